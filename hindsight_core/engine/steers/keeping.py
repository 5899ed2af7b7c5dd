"""Keeps a session's steers for the tools that rate them, and for the session's next process."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from hindsight_core.engine.steers.memo import Delivered, memo, read_memo
from hindsight_core.engine.steers.stats import Stats
from hindsight_core.errors import HindsightError

if TYPE_CHECKING:
    from hindsight_core.engine.live import LiveSession
    from hindsight_core.memory import Hit
    from hindsight_core.state.hook_sessions import HookSessions
    from hindsight_core.turns import RecallOutcome

logger = logging.getLogger("hindsight_core.engine")


class Keeping:
    """What was handed over; nothing of it is in the host's session file.

    Args:
        live: The session.

    Attributes:
        turns: Answers of the agent in this session, over all its processes.
        stats: What the session came to, likewise.
        delivered: The steers, oldest first.
    """

    def __init__(self, live: LiveSession) -> None:
        self._live = live
        self.turns = 0
        self.stats = Stats()
        live.runtime.log.listen(self.stats.take)
        self.delivered: tuple[Delivered, ...] = ()
        self._unconfirmed: tuple[Delivered, RecallOutcome] | None = None
        self._writing: asyncio.Task[None] | None = None

    async def issue(self, hits: Sequence[Hit]) -> str:
        """A token for memories that are about to be handed over; raises `StorageError`."""
        session = self._live.opening.session.id
        return await self._live.runtime.active.shown(self._own(hits), session_id=session)

    async def load(self) -> tuple[Delivered, ...]:
        """What an earlier process handed over; nothing where that cannot be read."""
        runtime = self._live.runtime
        try:
            kept = await self._memos.load(self._place, self._live.opening.session.id)
        except HindsightError as error:
            # state.db is rebuildable: cooldowns and tokens begin anew.
            logger.info("earlier steers of this session are lost: %s", error)
            return ()
        self.turns, self.delivered = read_memo(kept, now=runtime.clock())
        self.stats.resume(kept.get("stats"))
        return self.delivered

    def add(self, steer: Delivered, outcome: RecallOutcome) -> None:
        """A steer was handed to the host; whether it reached the model shows later."""
        self.confirm()
        self.delivered = (*self.delivered, steer)
        self._unconfirmed = steer, outcome
        self._write(self._keep)
        self._log(steer, outcome)

    def take_back(self) -> bool:
        """The newest one did not reach the model; False when it is known that it did."""
        if self._unconfirmed is None:
            return False
        self._unconfirmed = None
        self.delivered = self.delivered[:-1]
        self._write(self._keep)
        return True

    def confirm(self) -> None:
        """The newest one reached the model: its memories live longer."""
        if self._unconfirmed is None:
            return
        (_, outcome), self._unconfirmed = self._unconfirmed, None
        self._write(partial(self._reinforce, self._own(outcome.hits)))

    async def flush(self) -> None:
        """Wait for what is being written."""
        if any(self.stats.counts.values()):
            self._write(self._keep)
        if self._writing is not None:
            await self._writing
        if "_memos" in self.__dict__:
            self._memos.close()

    def _log(self, steer: Delivered, outcome: RecallOutcome) -> None:
        from hindsight_core.recall.steer.look import REASON

        scores = {hit.id: round(hit.score, 4) for hit in outcome.hits}
        fields = {"ids": steer.ids, "scores": scores, "why": outcome.details.get(REASON)}
        self._live.runtime.log.write(
            "steer.queued", session=self._live.opening.session.id, **fields
        )

    async def _reinforce(self, ids: Sequence[str]) -> None:
        live = self._live
        if not live.runtime.read_only:
            await live.runtime.active.delivered(ids, session_id=live.opening.session.id)

    def _own(self, hits: Sequence[Hit]) -> tuple[str, ...]:
        """Ids as active memory has them: without the name of the project's bank."""
        own = self._live.runtime.bank_id
        return tuple(hit.fact.id if hit.bank == own else hit.id for hit in hits)

    async def _keep(self) -> None:
        kept = {**memo(self.turns, self.delivered), "stats": self.stats.counts}
        await self._memos.keep(self._place, self._live.opening.session.id, kept)

    def _write(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        before = self._writing

        async def run() -> None:
            if before is not None:
                await asyncio.wait([before])
            try:
                await work()
            except HindsightError as error:
                logger.info("a steer could not be kept: %s", error)

        self._writing = asyncio.create_task(run())

    @property
    def _place(self) -> str:
        return f"steers:{self._live.runtime.bank_id}"

    @cached_property
    def _memos(self) -> HookSessions:
        from hindsight_core.state.hook_sessions import HookSessions

        runtime = self._live.runtime
        return HookSessions(runtime.loaded.paths.state, runtime.clock)
