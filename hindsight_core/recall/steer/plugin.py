"""The built-in steer as hook implementations, registered like those of any plugin."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hindsight_core.hookspecs import hookimpl
from hindsight_core.recall.steer.judge import judge_steer
from hindsight_core.recall.steer.known import Known, LookUp
from hindsight_core.recall.steer.planner import plan_steer
from hindsight_core.recall.steer.select import Selected, select

if TYPE_CHECKING:
    from hindsight_core.config.settings import Settings
    from hindsight_core.memory import Hit, Query
    from hindsight_core.services import Clock
    from hindsight_core.stages import Stages
    from hindsight_core.telemetry import ActivityLog
    from hindsight_core.turns import Plan, Turn, Verdict

logger = logging.getLogger("hindsight_core.recall")
# Shares of recall.timeout_ms, as in an ordinary recall.
PLAN_SHARE = 0.5
JUDGE_SHARE = 0.3
_EVENTS = {
    "frequency": "recall.frequency_filtered",
    "source-context": "recall.source_context_filtered",
    "age": "recall.age_filtered",
}


class SteerPlugin:
    """Plans, holds back and judges what goes into a running loop; other turns are not its own.

    Args:
        settings: Effective settings.
        stages: Asks the model chain.
        clock: Aware UTC now.
        look_up: Standing of memories.
        log: Takes what was held back and why.
    """

    def __init__(
        self,
        settings: Settings,
        stages: Stages,
        clock: Clock,
        *,
        look_up: LookUp,
        log: ActivityLog,
    ) -> None:
        self._settings = settings
        self._stages = stages
        self._clock = clock
        self._look_up = look_up
        self._log = log

    @hookimpl(trylast=True)
    async def hindsight_plan_recall(self, turn: Turn) -> Plan | None:
        """One key for what the agent is doing now."""
        if turn.occasion != "steer":
            return None
        timeout_s = self._seconds(PLAN_SHARE)
        return await plan_steer(self._settings, self._stages, turn, timeout_s=timeout_s)

    @hookimpl(trylast=True)
    async def hindsight_filter_hits(
        self, turn: Turn, query: Query, hits: Sequence[Hit]
    ) -> Sequence[Hit] | None:
        """Hold back what was sent lately, is before the model already, is far off or too young."""
        if turn.occasion != "steer":
            return None
        self._log.write("recall.query", session=turn.session_id, query=query.text, found=len(hits))
        selected = await self._select(turn, hits)
        for gate, event in _EVENTS.items():
            if ids := [hit.id for hit, held in selected.held if held == gate]:
                self._log.write(event, session=turn.session_id, ids=ids)
        matches = [{"id": item.hit.id, "rank": round(item.rank, 4)} for item in selected.kept]
        self._log.write("recall.matches", session=turn.session_id, matches=matches)
        return [item.hit for item in selected.kept]

    @hookimpl(trylast=True)
    async def hindsight_judge_hits(
        self, turn: Turn, query: Query, hits: Sequence[Hit]
    ) -> Verdict | None:
        """Which of them are worth an interruption."""
        if turn.occasion != "steer":
            return None
        ranked = (await self._select(turn, hits)).kept
        verdict = await judge_steer(
            self._stages, turn, query, ranked, timeout_s=self._seconds(JUDGE_SHARE)
        )
        ids = [hit.id for hit in verdict.keep]
        fields = {"ids": ids, "failed": verdict.failed, "why": verdict.reason}
        self._log.write("recall.judged", session=turn.session_id, **fields)
        return verdict

    async def _select(self, turn: Turn, hits: Sequence[Hit]) -> Selected:
        known = await self._look_up(hits)
        priority = self._settings.investigation.priority
        here = [hit for hit in hits if known.get(hit.id, True) is not None]
        standing = {
            hit.id: known.get(hit.id) or Known.of_fact(hit.fact, assistant_priority=priority)
            for hit in here
        }
        return select(
            here,
            standing,
            settings=self._settings.steer,
            context=turn.context,
            session_id=turn.session_id,
            suppressed=turn.suppressed,
            now=self._clock(),
        )

    def _seconds(self, share: float) -> float:
        return self._settings.recall.timeout_ms / 1000 * share
