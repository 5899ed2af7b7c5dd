"""What automatic recall keeps of one session: where its tasks and its reminders stand."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hindsight_core.errors import HindsightError
from hindsight_core.recall.reminder import Reminded, Reminder

if TYPE_CHECKING:
    from hindsight_core.engine.live import LiveSession
    from hindsight_core.memory import BankStats
    from hindsight_core.recall.tasks.contour import Contour
    from hindsight_core.state.hook_sessions import HookSessions
    from hindsight_core.turns import RecallOutcome, Turn

logger = logging.getLogger("hindsight_core.engine")


class Recalling:
    """Runs a session's turns, and remembers them once their answer is sent.

    It is kept in memory. For a host that keeps blocks in its transcript it is written down too:
    there the next turn may come to another process.

    Args:
        live: The session.

    Attributes:
        counts: What the bank held when somebody last counted, for the reminder (pi/B-10).
    """

    def __init__(self, live: LiveSession) -> None:
        self._live = live
        self.counts: BankStats | None = None
        self._loaded = live.opening.capabilities.blocks != "persist"
        self._writing: asyncio.Task[None] | None = None

    async def run(self, turn: Turn) -> RecallOutcome:
        """The turn's recall, within its bound; it changes nothing until `settle`."""
        if not self._loaded:
            await self._load()
        return await self._contour.run(turn)

    def settle(self, outcome: RecallOutcome) -> None:
        """The turn's answer goes to the model."""
        if "_contour" in self.__dict__:
            self._contour.settle()
            self._reminder.settle(outcome)
            self._keep()

    def take_back(self) -> None:
        """The last answer did not reach the model (an aborted turn)."""
        if "_contour" in self.__dict__:
            self._contour.take_back()
            self._reminder.take_back()
            self._keep()

    def begin(self) -> None:
        """A new session: nothing of an earlier one with the same id counts."""
        self._loaded = True

    def forget(self, *, compacted: bool) -> None:
        """Earlier blocks are not before the model any more (pi/B-06).

        ``compacted``: nor is the conversation, and the next turn begins anew (pi/T-10).
        """
        if not self._loaded:
            self._write(self._forget_kept(compacted=compacted))
        elif "_contour" in self.__dict__:
            self._reminder.forget()
            if compacted:
                self._contour.compacted()
            self._keep()

    async def flush(self) -> None:
        """Wait for what is being written."""
        if self._writing is not None:
            await self._writing
        if "_memos" in self.__dict__:
            self._memos.close()

    async def _load(self) -> None:
        self._loaded = True
        from hindsight_core.recall.tasks.state import TaskState

        if self._writing is not None:
            await asyncio.wait([self._writing])
        try:
            memo = await self._memos.load(self._place, self._live.opening.session.id)
        except HindsightError as error:
            # state.db is rebuildable: the session begins anew.
            logger.info("what recall knew of this session is lost: %s", error)
            return
        if memo:
            self._contour.resume(TaskState.from_memo(memo.get("tasks") or {}))
            self._reminder.resume(Reminded(memo.get("silent"), memo.get("full") is True))

    def _keep(self) -> None:
        if self._live.opening.capabilities.blocks != "persist":
            return
        reminded = self._reminder.state
        memo: dict[str, Any] = {
            "tasks": self._contour.state.memo(),
            "silent": reminded.silent,
            "full": reminded.full,
        }

        self._write(self._memos.keep(self._place, self._live.opening.session.id, memo))

    async def _forget_kept(self, *, compacted: bool) -> None:
        session = self._live.opening.session.id
        if memo := await self._memos.load(self._place, session):
            memo["full"] = False
            if compacted:
                memo["tasks"]["begun"] = False
            await self._memos.keep(self._place, session, memo)

    def _write(self, work: Coroutine[Any, Any, None]) -> None:
        before = self._writing

        async def run() -> None:
            if before is not None:
                await asyncio.wait([before])
            try:
                await work
            except HindsightError as error:
                logger.info("where recall stands could not be kept: %s", error)

        self._writing = asyncio.create_task(run())

    @property
    def _place(self) -> str:
        return f"recall:{self._live.runtime.bank_id}"

    @cached_property
    def _memos(self) -> HookSessions:
        from hindsight_core.state.hook_sessions import HookSessions

        runtime = self._live.runtime
        return HookSessions(runtime.loaded.paths.state, runtime.clock)

    @cached_property
    def _reminder(self) -> Reminder:
        runtime = self._live.runtime
        return Reminder(
            runtime.settings,
            lambda: runtime.prompts,
            bank=runtime.bank_id,
            counts=lambda: self.counts,
            stays=self._live.opening.capabilities.blocks != "turn",
        )

    @cached_property
    def _contour(self) -> Contour:
        from hindsight_core.recall.tasks.contour import Contour

        runtime = self._live.runtime
        contour = Contour(runtime.recall, runtime.settings)
        runtime.hooks.register_builtin(self._reminder)
        return contour
