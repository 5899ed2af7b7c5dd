"""Further rounds of a thorough recall: what was found may name what is still to be found."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from hindsight_core.errors import BudgetExceeded, PromptError, ProviderError
from hindsight_core.prompt_contexts_recall import RecallFollowup
from hindsight_core.recall.clip import clip
from hindsight_core.recall.effort import turn_cap
from hindsight_core.recall.lines import fact_lines
from hindsight_core.recall.merge import merge
from hindsight_core.recall.planner_plain import base_query
from hindsight_core.turns import Plan, Searched, Turn

if TYPE_CHECKING:
    from hindsight_core.config.settings import Settings
    from hindsight_core.memory import Query
    from hindsight_core.stages import Stages

logger = logging.getLogger("hindsight_core.recall")
ROUNDS = 3
MAX_TOKENS = 200
REQUEST_CHARACTERS = 4000
QUERY_CHARACTERS = 300
# A further round needs time for a question, a search and a judge.
ROOM_SHARE = 0.4


@dataclass(frozen=True, slots=True)
class Looked:
    """A plan and what came of its queries."""

    plan: Plan
    searched: tuple[Searched, ...] = ()


class Searches(Protocol):
    """The part of the runner that a round needs."""

    @property
    def stages(self) -> Stages:
        """Asks the model chain."""
        ...

    async def searched(
        self, turn: Turn, plan: Plan, queries: Sequence[Query]
    ) -> tuple[Searched, ...]:
        """Each query asked of each bank and judged."""
        ...


async def rounds(
    runner: Searches, settings: Settings, turn: Turn, looked: Looked, *, by: float
) -> tuple[Searched, ...]:
    """What further rounds found, with effort ``thorough``: at most `ROUNDS` with the first.

    All of a turn's queries together stay within ``recall.max_queries``. A round is asked for only
    while the last one brought something new and there is time; one that fails ends it, and what
    was found so far counts.
    """
    plan = looked.plan
    more: tuple[Searched, ...] = ()
    if settings.recall.effort != "thorough" or plan.degraded or not plan.queries:
        return more
    for _ in range(ROUNDS - 1):
        so_far = (*looked.searched, *more)
        asked = tuple(dict.fromkeys(item.query.text for item in so_far))
        room = min(turn_cap(settings, turn), settings.recall.max_queries - len(asked))
        if room < 1 or not _time_left(settings, by):
            break
        queries = await _asked_for(runner.stages, settings, turn, so_far, asked=asked, by=by)
        if not queries:
            break
        found = await runner.searched(turn, plan, queries[:room])
        more = (*more, *found)
        if not any(item.verdict and item.verdict.keep for item in found):
            break
    return more


async def _asked_for(
    stages: Stages,
    settings: Settings,
    turn: Turn,
    searched: Sequence[Searched],
    *,
    asked: Sequence[str],
    by: float,
) -> list[Query]:
    from hindsight_core.recall.answers import QueriesAnswer

    hits = merge(searched, shown=frozenset(), cap=settings.recall.max_lines).hits
    if not hits:
        return []
    variables = RecallFollowup(
        request=clip(turn.prompt, REQUEST_CHARACTERS),
        queries=tuple(asked),
        facts=fact_lines(hits, with_bank=False),
    )
    try:
        async with asyncio.timeout_at(by - settings.recall.timeout_ms / 1000 * ROOM_SHARE / 2):
            answer = await stages.ask(
                "recall/followup",
                variables,
                QueriesAnswer,
                purpose="recall",
                max_tokens=MAX_TOKENS,
                session_id=turn.session_id,
            )
    except (ProviderError, BudgetExceeded, PromptError, TimeoutError) as error:
        logger.info("no further round: %s", error or "too slow")
        return []
    known = {text.casefold() for text in asked}
    texts = (clip(text, QUERY_CHARACTERS) for text in answer.wanted)
    return [base_query(settings, turn, text) for text in texts if text.casefold() not in known]


def _time_left(settings: Settings, by: float) -> bool:
    room = settings.recall.timeout_ms / 1000 * ROOM_SHARE
    return by - asyncio.get_running_loop().time() > room
