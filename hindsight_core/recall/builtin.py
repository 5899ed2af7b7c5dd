"""The built-in recall as hook implementations, registered like those of any plugin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hindsight_core.hookspecs import hookimpl
from hindsight_core.recall.judge import judge
from hindsight_core.recall.keywords import has_substance
from hindsight_core.recall.planner_judged import plan_judged
from hindsight_core.recall.planner_plain import plan_plain
from hindsight_core.recall.planner_session import plan_session
from hindsight_core.recall.search import Cleans, clean_hits
from hindsight_core.turns import Plan, Turn, Verdict

if TYPE_CHECKING:
    from hindsight_core.config.settings import Settings
    from hindsight_core.memory import Hit, Query
    from hindsight_core.stages import Stages

# Shares of recall.timeout_ms: a model that hangs costs its own part, and the search still runs.
PLAN_SHARE = 0.5
JUDGE_SHARE = 0.3
NO_MODEL = "no model is configured for recall (models.provider, models.model)"


class RecallPlugin:
    """Plans, cleans and judges.

    Args:
        settings: Effective settings.
        stages: Asks the model chain.
        sanitiser: Cleans what the bank gives.
    """

    def __init__(self, settings: Settings, stages: Stages, sanitiser: Cleans) -> None:
        self._settings = settings
        self._stages = stages
        self._sanitiser = sanitiser

    @hookimpl(trylast=True)
    async def hindsight_plan_recall(self, turn: Turn) -> Plan | None:
        """Queries by the configured mode; without a model the prompt itself."""
        if turn.occasion != "prompt":
            return None
        mode = self._settings.recall.mode
        if mode == "session-start":
            return plan_session(self._settings, self._stages.prompts, turn)
        if not has_substance(turn.prompt):
            return Plan(reason="the prompt has no letter or digit")
        if mode == "plain":
            return plan_plain(self._settings, turn)
        if mode != "judged":
            return None
        if not self._stages.available("recall"):
            return plan_plain(self._settings, turn, degraded=NO_MODEL)
        return await plan_judged(
            self._settings, self._stages, turn, timeout_s=self._seconds(PLAN_SHARE)
        )

    @hookimpl(tryfirst=True)
    def hindsight_filter_hits(self, turn: Turn, query: Query, hits: Sequence[Hit]) -> Sequence[Hit]:
        """Sanitise and redact again what comes out of the bank."""
        limit = self._settings.security.max_fact_characters
        return clean_hits(list(hits), self._sanitiser, limit=limit)

    @hookimpl(trylast=True)
    async def hindsight_judge_hits(
        self, turn: Turn, query: Query, hits: Sequence[Hit]
    ) -> Verdict | None:
        """Ask the judge."""
        if turn.occasion != "prompt":
            return None
        return await judge(self._stages, turn, query, hits, timeout_s=self._seconds(JUDGE_SHARE))

    def _seconds(self, share: float) -> float:
        return self._settings.recall.timeout_ms / 1000 * share
