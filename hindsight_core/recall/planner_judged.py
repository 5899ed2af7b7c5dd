"""The judged plan: a small model makes search keys of the request and its context (pi/R-03)."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from hindsight_core.errors import BudgetExceeded, PromptError, ProviderError
from hindsight_core.prompt_contexts_recall import RecallQueries
from hindsight_core.recall.clip import clip
from hindsight_core.recall.effort import turn_cap
from hindsight_core.recall.planner_plain import base_query, plan_keywords
from hindsight_core.tokens import CHARACTERS_PER_TOKEN
from hindsight_core.turns import Plan, Turn

if TYPE_CHECKING:
    from hindsight_core.config.settings import Settings
    from hindsight_core.recall.answers import QueriesAnswer
    from hindsight_core.stages import Stages

logger = logging.getLogger("hindsight_core.recall")
MAX_TOKENS = 320
QUERY_CHARACTERS = 300


async def plan_judged(settings: Settings, stages: Stages, turn: Turn, *, timeout_s: float) -> Plan:
    """Ask for queries; a model that fails or is too slow leaves the keywords (pi/R-07)."""
    from hindsight_core.recall.answers import QueriesAnswer

    try:
        async with asyncio.timeout(timeout_s):
            answer = await stages.ask(
                "recall/queries",
                _variables(settings, turn),
                QueriesAnswer,
                purpose="recall",
                max_tokens=MAX_TOKENS,
                session_id=turn.session_id,
            )
    except (ProviderError, BudgetExceeded, PromptError, TimeoutError) as error:
        why = str(error) or f"no answer within {timeout_s:g} s"
        logger.info("the queries could not be made, keywords are searched: %s", why)
        return plan_keywords(settings, turn, reason=f"no queries from a model: {why}")
    return _plan(settings, turn, answer)


def _plan(settings: Settings, turn: Turn, answer: QueriesAnswer) -> Plan:
    # A task or a session begins: whatever the model names is searched, wanted or not (pi/T-13).
    wanted = answer.wanted if turn.boundary == "none" else answer.queries
    texts = dict.fromkeys(clip(text, QUERY_CHARACTERS) for text in answer.queries)
    named = tuple(base_query(settings, turn, text) for text in texts)
    # An empty answer is an answer, with or without a reason: nothing is searched (pi/D-18).
    if not wanted:
        reason = answer.reason or "the request names nothing to search for"
        return Plan(reason=reason, spare=named)
    cap = turn_cap(settings, turn)
    return Plan(
        queries=named[:cap],
        judge=settings.recall.filter != "off",
        spare=named[cap:],
        reflect=settings.recall.reflect and answer.op == "reflect",
    )


def _variables(settings: Settings, turn: Turn) -> RecallQueries:
    from hindsight_core.transcript.projections import recall_context

    budget = settings.recall.context_tokens * CHARACTERS_PER_TOKEN
    return RecallQueries(
        request=clip(turn.prompt, budget),
        context=recall_context(turn.entries, budget),
        reflect=settings.recall.reflect,
    )
