"""Plans a steer: one search key for what the agent is doing now (am/A-RECALL, steps 2 to 4)."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from hindsight_core.errors import BudgetExceeded, PromptError, ProviderError
from hindsight_core.memory import Query
from hindsight_core.prompt_contexts_steer import SteerQuery
from hindsight_core.recall.clip import clip
from hindsight_core.recall.keywords import has_substance, keyword_queries
from hindsight_core.turns import Plan, Turn

if TYPE_CHECKING:
    from hindsight_core.config.settings import Settings
    from hindsight_core.stages import Stages

logger = logging.getLogger("hindsight_core.recall")
STAGE = "steer/query"
MAX_TOKENS = 200
QUERY_CHARACTERS = 600
NOTHING = "the conversation names nothing to search for"


def breadth(top_k: int) -> int:
    """How many hits are asked for, so that gates do not empty the list (am/A-RECALL step 4)."""
    return max(top_k * 5, top_k + 20)


async def plan_steer(settings: Settings, stages: Stages, turn: Turn, *, timeout_s: float) -> Plan:
    """Ask for a key; without a model, or when it fails, the prompt's keywords are searched."""
    if not has_substance(turn.context):
        return Plan(reason="nothing was said yet")
    if not stages.available("recall"):
        return _keywords(settings, turn, reason="no model is configured for recall")
    from hindsight_core.recall.steer.answers import SteerQueryAnswer

    try:
        async with asyncio.timeout(timeout_s):
            answer = await stages.ask(
                STAGE,
                SteerQuery(context=turn.context),
                SteerQueryAnswer,
                purpose="recall",
                max_tokens=MAX_TOKENS,
                session_id=turn.session_id,
            )
    except (ProviderError, BudgetExceeded, PromptError, TimeoutError) as error:
        why = str(error) or f"no answer within {timeout_s:g} s"
        logger.info("no key for a steer, keywords are searched: %s", why)
        return _keywords(settings, turn, reason=f"no query from a model: {why}")
    if not has_substance(answer.query):
        return Plan(reason=NOTHING)
    return Plan(queries=(_query(settings, clip(answer.query, QUERY_CHARACTERS)),))


def _keywords(settings: Settings, turn: Turn, *, reason: str) -> Plan:
    found = keyword_queries(turn.prompt, limit=1)
    if not found:
        return Plan(reason=f"{reason}, and the prompt has no search term", degraded=True)
    return Plan(
        queries=(_query(settings, found[0]),),
        reason=f"{reason} (degraded)",
        degraded=True,
        judge=False,
    )


def _query(settings: Settings, text: str) -> Query:
    return Query(
        text=text,
        limit=breadth(settings.steer.top_k),
        max_tokens=settings.recall.max_tokens,
        budget=settings.recall.budget,
    )
