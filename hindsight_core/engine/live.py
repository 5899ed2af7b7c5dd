"""One live session: its path, its turns, its writes (protocol.md, Rules of the lifecycle)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hindsight_core.engine.active.session import ActiveSession
from hindsight_core.engine.activity import SessionActivity
from hindsight_core.engine.adopting import adopt
from hindsight_core.engine.asked import Asked
from hindsight_core.engine.at_start import AtStart
from hindsight_core.engine.auto import Auto
from hindsight_core.engine.deciding import Deciding
from hindsight_core.engine.durable import Durable
from hindsight_core.engine.modes import Modes
from hindsight_core.engine.pace import Pace
from hindsight_core.engine.path import LivePath, follow
from hindsight_core.engine.person import person_of
from hindsight_core.engine.recalling import Recalling
from hindsight_core.engine.shown import ShownSet
from hindsight_core.engine.spans import Spans
from hindsight_core.engine.steers.session import Steers
from hindsight_core.engine.study import Study
from hindsight_core.engine.telling import Told
from hindsight_core.engine.upkeep import Upkeep
from hindsight_core.engine.watch import Watch
from hindsight_core.engine.work import Work
from hindsight_core.errors import HindsightError
from hindsight_core.turns import RecallOutcome, Turn

if TYPE_CHECKING:
    from hindsight_core.engine.notices import Notices
    from hindsight_core.engine.opening import Opening
    from hindsight_core.runtime import Runtime
    from hindsight_core.services import BridgeAccess

logger = logging.getLogger("hindsight_core.engine")
ENDS_WORK = ("quit", "new")
# The runner keeps the bound itself and says so in the log; this is for what stands around it.
_SLACK_S = 0.05


class LiveSession(Asked):
    """What the engine does for one session that is active or has tools only.

    Args:
        opening: Who is speaking and what memory may do here.
        runtime: The opened configuration.
        notices: Where trouble is told.
        host: The agent program's name.
        bridge: For what only the host knows.
    """

    def __init__(
        self,
        opening: Opening,
        runtime: Runtime,
        *,
        notices: Notices,
        host: str,
        bridge: BridgeAccess,
    ) -> None:
        self.opening = opening = opening.named(runtime.sanitiser.entry_id)
        session = opening.session.id
        self.runtime = runtime
        self.path = LivePath()
        self.modes = Modes(runtime, notices=notices, session_id=session)
        self.spans = Spans(runtime)
        self.deciding = Deciding(runtime, notices=notices, spans=self.spans)
        self.watch = Watch(self)
        self.work = Work(
            runtime,
            notices=notices,
            deciding=self.deciding,
            watch=self.watch,
            host=host,
            session_id=session,
        )
        self.host = host
        self.bridge = bridge
        self.notices = notices
        self.shown = ShownSet(
            lambda: runtime.sessions,
            bank=runtime.bank_id,
            session_id=session,
            blocks=opening.capabilities.blocks,
        )
        self.recalling = Recalling(self)
        self.person = person_of(self)
        self.auto = Auto.of(runtime.settings)
        self.study = Study(self)
        self.upkeep = Upkeep(runtime, watched=opening.capabilities.status, notices=notices)
        self.at_start = AtStart(self)
        self.activity = SessionActivity.of(runtime, opening)
        self.steers = Steers(self)
        self.told = Told(self)
        self.durable = Durable(runtime, notices=notices, session_id=session, host=host)
        self.active = ActiveSession(self)
        self._pace = Pace(runtime.settings)

    @property
    def is_child(self) -> bool:
        """A sub-agent: a small recall and tools, nothing automatic besides."""
        return self.opening.session.parent_id is not None

    @property
    def recalls(self) -> bool:
        """Whether turns recall by themselves here."""
        on = self.auto.recall and self.runtime.settings.recall.mode != "off"
        return self.opening.state == "active" and on and self.modes.why_no_recall is None

    @property
    def brings_back(self) -> bool:
        """Whether memories come by themselves here, with prompts or in the agent's loop."""
        return self.recalls or self.steers.applies

    @property
    def memorizes(self) -> bool:
        """Whether anything is written by itself here."""
        return (
            self.opening.state == "active"
            and self.auto.memorize
            and not self.runtime.read_only
            and not self.is_child
            and self.modes.why_no_session is None
        )

    async def started(self, reason: str, params: Mapping[str, Any]) -> None:
        """A session begins, or its context was replaced."""
        self.activity.take("session.started", {"reason": reason})
        await self.follow(params)
        await self.modes.opened(self.path.entries)
        await self.steers.begin()
        if reason == "compact" or (reason in ("startup", "new") and not self.path.entries):
            self.recalling.begin()
            self.forget_shown()
        self.watch.start(reason)
        if self.person is not None:
            self.person.begin(params)
        if self.memorizes:
            await adopt(self)
            await self.durable.begin()
        if self.opening.state == "active" and not self.is_child and not self.runtime.read_only:
            self.work.start(recover=self.memorizes)
            self.upkeep.start(reason)
            self.active.start()

    async def turn_start(
        self, turn_id: str, prompt: str, params: Mapping[str, Any], *, limit_s: float
    ) -> RecallOutcome:
        """Recall for a prompt, within the limit whatever happens."""
        started, turn = self.spans.now(), None
        self.active.began(prompt)
        try:
            async with asyncio.timeout(limit_s + _SLACK_S):
                if not await self.follow(params):
                    return RecallOutcome("skipped", reason="resync")
                await self.modes.began(self.path.entries, prompt)
                self.steers.asked(prompt)
                if not self.brings_back:
                    return RecallOutcome("skipped", reason=self._why_no_recall())
                await self.upkeep.ready()
                with self.watch.recalling(), self.modes.quiet():
                    turn = await self.deciding.read(
                        await self.turn(turn_id, prompt), self.path.entries
                    )
                    outcome = await self._recall(turn)
        except TimeoutError:
            outcome = RecallOutcome("failed", reason=f"no answer within {limit_s:g} s")
        except HindsightError as error:
            outcome = RecallOutcome("failed", reason=str(error))
        except Exception as error:
            logger.exception("recall failed")
            outcome = RecallOutcome("failed", reason=f"{type(error).__name__}: {error}")
        self._after(outcome)
        if turn is not None:
            self.spans.recall(turn, outcome, started=started)
        return outcome

    async def _recall(self, turn: Turn) -> RecallOutcome:
        if not self.recalls:
            return await self.steers.at_start(turn)
        return await (self.at_start if self.at_start.applies else self.recalling).run(turn)

    def forget_shown(self, *, but_last: bool = False) -> None:
        """Blocks are not before the model any more; ``but_last``: all but the newest one."""
        self.shown.clear(but_last=but_last)
        self.recalling.forget(compacted=not but_last)

    def compacted(self) -> None:
        """The model has lost what was shown, and its prompt begins anew."""
        self.forget_shown()
        if self.person is not None:
            self.person.begin({})

    def take_back(self) -> None:
        """The last turn's block did not reach the model (an aborted turn)."""
        self.shown.take_back()
        self.recalling.take_back()
        self.at_start.take_back()
        self.steers.take_back()

    async def turn_end(self, params: Mapping[str, Any]) -> bool:
        """Make the turn durable; False when ``since`` is unknown here and the host must resync."""
        if not await self.follow(params):
            return False
        await self.modes.ended(self.path.entries)
        await self.study.run_ended()
        self.active.settled()
        if not self.memorizes:
            return True
        entries = self.modes.writable(self.path.entries)
        await self.durable.write(entries)
        if (reason := self._pace.turn()) is not None:
            self.work.memorize(entries, reason=reason)
        return True

    async def compact_before(self, params: Mapping[str, Any]) -> None:
        """Memorize what is about to be discarded, from a snapshot, in the background."""
        self.recalling.forget(compacted=False)
        if not self.memorizes:
            return
        entries, kept = self.path.discarded(params)
        if entries := self.modes.writable(entries):
            await self.durable.write(entries)
            self.work.memorize(entries, reason="compact", before=kept)

    async def end(self, reason: str, *, timeout_s: float) -> int:
        """Memorize on quit and new, flush; how much is left, all of it durable.

        When the host is gone (``crash``) no model is asked: windows are made durable and wait.
        """
        for stop in (self.watch.stop, self.upkeep.stop, self.active.stop, self.steers.end):
            await stop()
        self.activity.take("session.shutdown", {"reason": reason})
        entries = self.modes.writable(self.path.entries)
        if self.memorizes and entries:
            await self.durable.write(entries)
            if reason in ENDS_WORK:
                self.work.memorize(entries, reason=f"shutdown:{reason}")
        if reason == "crash":
            self.work.abandon()
        try:
            pending = await self.work.finish(timeout_s=timeout_s)
            await self.shown.flush()
            await self.recalling.flush()
            if self.person is not None:
                await self.person.close()
        finally:
            await self.durable.end()
        return pending

    async def follow(self, params: Mapping[str, Any]) -> bool:
        """Take the path out of a call's parameters, or ask the host for it; False: resync."""
        if not await follow(self.path, params, bridge=self.bridge):
            return False
        self.steers.observe()
        return True

    async def turn(self, turn_id: str, prompt: str) -> Turn:
        """A prompt and the path before it, sanitised; raises `StorageError`."""
        runtime = self.runtime
        complete = runtime.settings.recall.complete
        return Turn(
            id=turn_id,
            session_id=self.opening.session.id,
            prompt=runtime.sanitiser.text(prompt),
            entries=tuple(runtime.sanitiser.entries(self.modes.tellable(self.path.entries))),
            banks=(runtime.bank_id,),
            shown=self._before_the_model | (frozenset() if complete else await self.shown.keys()),
            is_child=self.is_child,
            is_private=self.modes.why_no_retain is not None,
        )

    @property
    def _before_the_model(self) -> frozenset[str]:
        """Keys of facts that the system prompt holds."""
        return self.person.keys if self.person is not None else frozenset()

    def hand_over(self, outcome: RecallOutcome) -> None:
        """What was found goes to the host with the answer that is being sent."""
        from hindsight_core.recall.shown import shown_by

        self.shown.add(shown_by(outcome))
        self.steers.settle(outcome)

    def _after(self, outcome: RecallOutcome) -> None:
        self.hand_over(outcome)
        self.recalling.settle(outcome)
        self.at_start.settle(outcome)
        self.told.look(outcome)

    def _why_no_recall(self) -> str:
        if self.opening.state != "active":
            return self.opening.reason or self.opening.state
        return self.modes.why_no_recall or "automatic recall is off"
