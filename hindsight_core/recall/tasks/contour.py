"""Automatic recall of one session: ordinary turns, and deep passes where a task begins (pi/T)."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from hindsight_core.recall.keywords import has_substance
from hindsight_core.recall.reflecting import reflected
from hindsight_core.recall.rounds import Looked
from hindsight_core.recall.tasks.deep import DeepPass, first_query
from hindsight_core.recall.tasks.detector import UNCHANGED, Detected, detect
from hindsight_core.recall.tasks.state import TaskState
from hindsight_core.turns import Plan, RecallOutcome, Turn

if TYPE_CHECKING:
    from hindsight_core.config.settings import Settings
    from hindsight_core.recall.runner import RecallRunner

logger = logging.getLogger("hindsight_core.recall")
# Shares of recall.timeout_ms. The detector has to leave time for the pass that it asks for; a
# deep pass that is too slow has to leave time for what is there already.
DETECT_SHARE = 0.4
FALL_BACK_SHARE = 0.05


class Contour:
    """Looks for each turn's facts and follows the session's tasks.

    A turn changes nothing by itself: `settle` does, once its answer is on its way to the model.

    Args:
        runner: Plans, searches, judges, and places what comes out.
        settings: Effective settings.
    """

    def __init__(self, runner: RecallRunner, settings: Settings) -> None:
        self._runner = runner
        self._settings = settings
        self._deep = DeepPass(runner, settings)
        self.state = TaskState()
        self._next: TaskState | None = None
        self._before = self.state

    def resume(self, state: TaskState) -> None:
        """Go on where another process stood."""
        self.state = self._before = state

    async def run(self, turn: Turn) -> RecallOutcome:
        """The turn's recall; as `RecallRunner.run`."""
        self._next = None
        return await self._runner.run(turn, how=self._look)

    def settle(self) -> None:
        """The turn's answer goes to the model: it was heard."""
        if self._next is not None:
            self._before, self.state, self._next = self.state, self._next, None

    def take_back(self) -> None:
        """The last turn did not reach the model (it was aborted)."""
        self.state = self._before

    def compacted(self) -> None:
        """The model has lost what it was told: the next turn begins anew."""
        self.state = self._before = self.state.compacted()

    async def _look(self, turn: Turn, deadline: float) -> RecallOutcome:
        if turn.is_child or not has_substance(turn.prompt):
            return await self._runner.ordinary(turn, deadline)
        boundary = self.state.boundary(turn)
        heard = self.state.heard(turn, keep=self._settings.tasks.history_turns)
        if boundary == "session":
            outcome, title = await self._session(turn, deadline)
            self._next = heard if turn.is_private else heard.guessed(title)
            return outcome
        self._next = heard
        if not self._detects:
            return await self._ordinary(turn, deadline)
        return await self._following(turn, heard, deadline)

    async def _session(self, turn: Turn, deadline: float) -> tuple[RecallOutcome, str]:
        if not self._detects:
            outcome = await self._ordinary(turn, deadline)
            return replace(outcome, boundary="session"), ""
        outcome, looked = await self._deep.session(turn, deadline=deadline)
        outcome = await self._answered(turn, looked.plan, outcome, deadline)
        return replace(outcome, boundary="session"), first_query(looked)

    async def _following(self, turn: Turn, heard: TaskState, deadline: float) -> RecallOutcome:
        """Ordinary pass and detector at once; the deep pass follows only a change (pi/T-12)."""
        ordinary = asyncio.create_task(self._runner.look(turn, deadline=deadline))
        try:
            detected = await detect(
                self._runner.stages,
                heard,
                session_id=turn.session_id,
                timeout_s=self._seconds(DETECT_SHARE),
            )
            # A name of the task would tell of a turn that is private.
            self._next = heard if turn.is_private else self._judged(heard, detected)
            if not detected.changed:
                looked = await ordinary
                outcome = self._runner.conclude(turn, looked)
                return await self._answered(turn, looked.plan, outcome, deadline)
            return await self._task(turn, ordinary, detected, deadline)
        finally:
            ordinary.cancel()

    async def _task(
        self, turn: Turn, ordinary: asyncio.Task[Looked], detected: Detected, deadline: float
    ) -> RecallOutcome:
        """The deep pass over what the ordinary one found; else that alone (pi/T-20)."""
        failure: Exception | None = None
        try:
            looked = await ordinary
        except Exception as error:
            logger.info("the ordinary pass failed: %s", error)
            failure, looked = error, Looked(Plan())
        until = deadline - self._seconds(FALL_BACK_SHARE)
        try:
            async with asyncio.timeout_at(until):
                outcome = await self._deep.task(turn, looked, query=detected.query, deadline=until)
        except Exception as error:
            logger.warning("the deep pass failed, the ordinary one is used: %s", error or "slow")
            if failure is not None:
                raise failure from error
            outcome = self._runner.conclude(turn, looked)
        return replace(outcome, boundary="task")

    async def _ordinary(self, turn: Turn, deadline: float) -> RecallOutcome:
        looked = await self._runner.look(turn, deadline=deadline)
        outcome = self._runner.conclude(turn, looked)
        return await self._answered(turn, looked.plan, outcome, deadline)

    async def _answered(
        self, turn: Turn, plan: Plan, outcome: RecallOutcome, deadline: float
    ) -> RecallOutcome:
        """With the bank's own answer to a question of fact, where the settings allow it."""
        if not plan.reflect:
            return outcome
        by = deadline - self._seconds(FALL_BACK_SHARE)
        return await reflected(self._runner, turn, plan, outcome, by=by)

    def _judged(self, heard: TaskState, detected: Detected) -> TaskState:
        if detected.changed and detected.reply is not None:
            tail = self._settings.tasks.title_tail
            return heard.other(detected.reply, title=detected.title, tail=tail)
        if detected is UNCHANGED or detected.reply is None:
            return heard
        return heard.same(detected.reply, title=detected.title)

    @property
    def _detects(self) -> bool:
        """Deep passes are for a model: without one there is nobody to judge so many facts."""
        settings = self._settings
        judged = settings.recall.mode == "judged"
        return settings.tasks.detect and judged and self._runner.stages.available("recall")

    def _seconds(self, share: float) -> float:
        return self._settings.recall.timeout_ms / 1000 * share
