"""The steers of one session: one look at a time, and what it found on its way to the agent."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hindsight_core.engine.steers.limiter import Limiter
from hindsight_core.engine.steers.memo import Delivered
from hindsight_core.engine.steers.triggers import PathWatch, Triggers
from hindsight_core.engine.steers.words import last_words, texts, unfinished, with_prompt
from hindsight_core.engine.wire import block_wire
from hindsight_core.errors import HindsightError
from hindsight_core.recall.keywords import has_substance
from hindsight_core.transcript.entry import Entry, Text
from hindsight_core.transcript.rendered import rendered
from hindsight_core.turns import Block, RecallOutcome, Turn

if TYPE_CHECKING:
    from datetime import datetime

    from hindsight_core.engine.live import LiveSession
    from hindsight_core.engine.steers.keeping import Keeping
    from hindsight_core.engine.steers.stats import Stats

logger = logging.getLogger("hindsight_core.engine")
MARKS = {"useful": "🟢", "unhelpful": "🔴"}


class Steers:
    """Looks for memories while the agent works, and hands each over once.

    Args:
        live: The session.

    Attributes:
        last: The outcome of the newest steer that was handed over, for ``/memory-why``.
        looked: The outcome of the newest look, whatever it found.
    """

    def __init__(self, live: LiveSession) -> None:
        from hindsight_core.engine.steers.keeping import Keeping

        settings = live.runtime.settings.steer
        self._live = live
        self._watch = PathWatch()
        self._triggers = Triggers(settings)
        self._limiter = Limiter(settings)
        self._keeping: Keeping = Keeping(live)
        self._notify: Callable[[str, dict[str, Any]], None] | None = None
        self._tell: Callable[[str, dict[str, Any]], None] = lambda name, params: None
        self._due = False
        self._job: asyncio.Task[None] | None = None
        self._partial: Entry | None = None
        self._again = False
        self._ready: RecallOutcome | None = None
        self._before = self._limiter.state
        self._prompt = ""
        self._looks = 0
        self._begun = False
        self.last: RecallOutcome | None = None
        self.looked: RecallOutcome | None = None

    def listen(self, notify: Callable[[str, dict[str, Any]], None]) -> None:
        """Send steers as soon as they are there, to a host that declared it takes them so."""
        self._tell = notify
        if self._live.opening.capabilities.steer:
            self._notify = notify

    @property
    def applies(self) -> bool:
        """Whether this session is steered at all."""
        live = self._live
        on = live.runtime.settings.steer.enabled and live.auto.recall
        may = live.opening.state == "active" and live.modes.why_no_recall is None
        return on and may and not live.is_child

    @property
    def busy(self) -> bool:
        """Whether a look is under way."""
        return self._job is not None and not self._job.done()

    @property
    def stats(self) -> Stats:
        """What the session came to so far."""
        return self._keeping.stats

    @property
    def delivered(self) -> tuple[Delivered, ...]:
        """What was handed over in this session, also by an earlier process."""
        return self._keeping.delivered

    async def begin(self) -> None:
        """The session begins or goes on: cooldowns and tokens of an earlier process count."""
        if self._begun or not self._live.runtime.settings.steer.enabled:
            return
        self._begun = True
        for steer in await self._keeping.load():
            self._limiter.record(steer.ids, steer.at, turn=steer.turn)
        self.observe()

    def observe(self, partial: Entry | None = None) -> None:
        """The path was followed: count what is new on it."""
        news = self._watch.news(self._live.path.entries, partial=partial)
        self._keeping.turns += news.turns
        self._due = self._triggers.due(news) or self._due

    def asked(self, prompt: str) -> None:
        """The user's newest words; the host's path may hold them only after the first step."""
        self._prompt = self._live.runtime.sanitiser.text(prompt).strip()

    # -- looking ---------------------------------------------------------------------------------
    async def at_start(self, turn: Turn) -> RecallOutcome:
        """Before the agent runs: one look with the prompt, or what an earlier look left over."""
        await self._stop()
        self._keeping.confirm()
        self._triggers.reset()
        self._due = False
        if not has_substance(turn.prompt):
            return RecallOutcome("skipped", reason="the prompt has no letter or digit")
        left, self._ready = self._ready, None
        said = Entry("prompt", "user", (Text(turn.prompt),))
        outcome = await self._look(turn, (*turn.entries, said))
        return left if left is not None and outcome.block is None else outcome

    async def progress(self, params: Mapping[str, Any]) -> None:
        """In a running loop: look when it is time; `take` gives what was found.

        A host that takes notifications, or says ``wait: false`` (give what is there) or
        ``give: false`` (keep it for the next call), is not kept waiting.
        """
        if not await self._live.follow(params) or not self.applies:
            return
        self._keeping.confirm()
        partial = unfinished(params)
        if partial is not None:
            self.observe(partial)
        if self._due:
            self._due = False
            with self._live.modes.quiet():
                self._request(str(params.get("turnId") or "run"), partial)
        patient = params.get("wait") is not False and params.get("give") is not False
        if patient and self._notify is None and self._job is not None:
            await asyncio.wait({self._job})

    def given(self, params: Mapping[str, Any]) -> tuple[Block, ...]:
        """What ``turn/progress`` answers with."""
        return () if params.get("give") is False else self.take()

    def take(self) -> tuple[Block, ...]:
        """What waits for the agent; it counts as handed over in this very step."""
        outcome, self._ready = self._ready, None
        if outcome is None or outcome.block is None:
            return ()
        self._live.hand_over(outcome)
        return (outcome.block,)

    def settle(self, outcome: RecallOutcome) -> None:
        """A steer goes to the agent: from now on it counts, and its token is good."""
        if outcome.block is None or outcome.block.kind != "steer":
            return
        from hindsight_core.recall.steer.look import RATED_BY

        now, ids = self._live.runtime.clock(), [hit.id for hit in outcome.hits]
        self._before = self._limiter.state
        self._limiter.record(ids, now, turn=self._keeping.turns)
        self._limiter.remember(ids, texts(outcome))
        steer = Delivered(outcome.details[RATED_BY], tuple(ids), now, self._keeping.turns)
        self._keeping.add(steer, outcome)
        self.last = outcome

    def rated(self, token: str, outcome: str) -> None:
        """The agent has rated a memory of a steer: the person's display of it shows that."""
        from hindsight_core.recall.steer.block import display_id

        self._tell("shown/marked", {"id": display_id(token), "mark": MARKS[outcome]})

    def take_back(self) -> None:
        """The last block did not reach the model (an aborted turn)."""
        if self._keeping.take_back():
            self._limiter.restore(self._before)

    async def end(self) -> None:
        """The session ends: nothing of it goes on."""
        await self._stop()
        self._keeping.confirm()
        await self._keeping.flush()

    def _request(self, turn_id: str, partial: Entry | None) -> None:
        """One look at a time; one that waits is replaced by the newer (am/A-SCHED-2)."""
        self._partial = partial
        log, session = self._live.runtime.log, self._live.opening.session.id
        log.write("recall.scheduled", session=session, turn=turn_id)
        if self.busy:
            self._again = True
            return
        self._job = asyncio.create_task(self._run(turn_id))

    async def _run(self, turn_id: str) -> None:
        while True:
            self._again = False
            partial = self._partial
            try:
                await self._look_on(turn_id, partial)
            except HindsightError as error:
                self._live.notices.trouble("recall", f"Nothing was recalled: {error}")
            except Exception:
                logger.exception("a steer failed")
            if not self._again:
                return

    async def _look_on(self, turn_id: str, partial: Entry | None) -> None:
        live = self._live
        self._looks += 1
        words = self._prompt or last_words(live.path.entries)
        turn = await live.turn(f"{turn_id}+{self._looks}", words)
        writing = live.runtime.sanitiser.entries([partial]) if partial is not None else ()
        with live.watch.recalling():
            said = with_prompt(turn.entries, self._prompt)
            outcome = await self._look(turn, (*said, *writing))
        live.told.look(outcome)
        if outcome.block is None:
            return
        self._ready = outcome
        if self._notify is not None:
            blocks = self.take()
            self._notify("steer", {"blocks": [block_wire(block) for block in blocks]})

    async def _look(self, turn: Turn, entries: tuple[Entry, ...]) -> RecallOutcome:
        from hindsight_core.recall.steer.look import SteerPass

        runtime = self._live.runtime
        settings, now = runtime.settings.steer, runtime.clock()
        if turn.skip is not None:
            return RecallOutcome("skipped", reason=turn.skip)
        if self._stays and self._limiter.cooling(now):
            seconds = settings.cooldown_ms / 1000
            return RecallOutcome("skipped", reason=f"a steer was sent less than {seconds:g} s ago")
        asked = replace(
            turn,
            occasion="steer",
            context=rendered(entries, limit=settings.context_characters),
            suppressed=self._suppressed(now),
            max_lines=settings.top_k,
        )
        runtime.log.write("recall.started", session=turn.session_id, turn=turn.id)
        look = SteerPass(runtime.recall, token=self._keeping.issue)
        outcome = await runtime.recall.run(asked, how=look)
        if self._stays and self._limiter.repeats([hit.id for hit in outcome.hits], texts(outcome)):
            outcome = replace(
                outcome, outcome="empty", reason="the last steer over again", hits=(), block=None
            )
        self.looked = outcome
        why = outcome.reason if outcome.outcome == "failed" else outcome.details.get("degraded")
        if why:
            fields = {"outcome": outcome.outcome, "error": why}
            runtime.log.write("recall.error", session=turn.session_id, **fields)
        return outcome

    @property
    def _stays(self) -> bool:
        """Where a block lives for one turn only, the next one has to bring all of it again."""
        return self._live.opening.capabilities.blocks != "turn"

    def _suppressed(self, now: datetime) -> frozenset[str]:
        if not self._stays:
            return frozenset()
        return self._limiter.suppressed(now, turn=self._keeping.turns)

    async def _stop(self) -> None:
        job, self._job, self._again = self._job, None, False
        if job is not None and not job.done():
            job.cancel()
            with suppress(asyncio.CancelledError):
                await job
