"""The deep pass: more queries, more facts, one briefing, where a session or a task begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hindsight_core.recall.effort import deep_cap
from hindsight_core.recall.planner_plain import base_query
from hindsight_core.recall.rounds import Looked
from hindsight_core.recall.tasks.briefing import brief
from hindsight_core.turns import Boundary, Plan, RecallOutcome, Turn

if TYPE_CHECKING:
    from hindsight_core.config.settings import Settings
    from hindsight_core.memory import Query
    from hindsight_core.recall.runner import RecallRunner

# Time that is kept for putting the block together, as a share of recall.timeout_ms.
PLACE_SHARE = 0.02


class DeepPass:
    """One session's deep passes.

    Args:
        runner: Plans, searches and judges.
        settings: Effective settings.
    """

    def __init__(self, runner: RecallRunner, settings: Settings) -> None:
        self._runner = runner
        self._settings = settings

    def turn(self, turn: Turn, boundary: Boundary) -> Turn:
        """The turn with the wider caps of a deep pass (pi/R-06, pi/T-13)."""
        tasks, recall = self._settings.tasks, self._settings.recall
        return replace(
            turn,
            boundary=boundary,
            max_lines=tasks.deep_max_lines,
            max_queries=deep_cap(tasks.deep_queries, max_queries=recall.max_queries),
        )

    async def session(self, turn: Turn, *, deadline: float) -> tuple[RecallOutcome, Looked]:
        """A session begins: there is no other pass (pi/T-11); raises `HindsightError`."""
        deep = self.turn(turn, "session")
        looked = await self._widened(
            deep, await self._runner.look(deep, deadline=deadline), query=None
        )
        return await self._told(deep, looked, deadline=deadline), looked

    async def task(
        self, turn: Turn, ordinary: Looked, *, query: str, deadline: float
    ) -> RecallOutcome:
        """Another task begins: the ordinary pass is widened by the detector's query (pi/T-12).

        Its searches are not made again (pi/D-27), and stay when the wider ones fail (pi/D-04).
        """
        deep = self.turn(turn, "task")
        looked = await self._widened(deep, ordinary, query=query)
        return await self._told(deep, looked, deadline=deadline)

    async def _widened(self, deep: Turn, looked: Looked, *, query: str | None) -> Looked:
        plan = looked.plan
        known = {item.query.text for item in looked.searched}
        wanted = [] if query is None else [base_query(self._settings, deep, query)]
        spare = () if plan.degraded else plan.spare
        room = (deep.max_queries or 1) - len(known)
        missing = _missing([*wanted, *spare], known, room=max(room, len(wanted)))
        if not missing:
            return looked
        judged = Plan(queries=missing, judge=self._settings.recall.filter != "off")
        found = await self._runner.searched(deep, judged, missing)
        # A search that a model named makes up for a plan that had to do without one.
        degraded = plan.degraded and not any(item.verdict and item.verdict.keep for item in found)
        return Looked(
            replace(plan, queries=(*missing, *plan.queries), degraded=degraded, judge=judged.judge),
            (*found, *looked.searched),
        )

    async def _told(self, deep: Turn, looked: Looked, *, deadline: float) -> RecallOutcome:
        if looked.plan.degraded:
            # Nobody judged these: no more of them than in an ordinary turn.
            deep = replace(deep, max_lines=self._settings.recall.max_lines)
        outcome = self._runner.conclude(deep, looked)
        prose = None
        if outcome.hits and not looked.plan.degraded:
            keep = self._settings.recall.timeout_ms / 1000 * PLACE_SHARE
            several = len({item.bank for item in looked.searched}) > 1
            prose = await brief(
                self._runner.stages, deep, outcome.hits, with_bank=several, by=deadline - keep
            )
        return replace(outcome, boundary=deep.boundary, briefing=prose)


def first_query(looked: Looked) -> str:
    """What a plan looks for first: it names the task where nothing better does (pi/D-11)."""
    queries = (*looked.plan.queries, *looked.plan.spare)
    return "" if looked.plan.degraded or not queries else queries[0].text


def _missing(queries: Sequence[Query], known: set[str], *, room: int) -> tuple[Query, ...]:
    fresh = {query.text: query for query in queries if query.text not in known}
    return tuple(fresh.values())[: max(0, room)]
