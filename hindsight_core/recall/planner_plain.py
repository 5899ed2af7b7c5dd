"""Plans without a model: the prompt itself is the query, or its keywords are."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from hindsight_core.memory import Query, Scope
from hindsight_core.recall.clip import clip
from hindsight_core.recall.effort import turn_cap
from hindsight_core.recall.keywords import keyword_queries, terms
from hindsight_core.turns import Plan, Turn

if TYPE_CHECKING:
    from hindsight_core.config.settings import Settings

CONTEXT_CHARACTERS = 1200
# A prompt with fewer search terms, or with a word that points back, needs what stood before it.
_FEW_TERMS = 3
_POINTS_BACK = re.compile(
    r"\b(it|its|they|them|that|those|this|these|there|same|also|then|again|instead|one|ones"
    r"|es|sie|ihn|das|dies|diese|dort|davon|damit|dafür|auch|dasselbe"
    r"|это|этот|эта|эти|его|её|их|он|она|они|там|тот|те|тоже|также)\b"
    r"|^\s*(and|but|or|so|und|aber|а|и|но)\b|[它他她这那其]",
    re.IGNORECASE,
)


def base_query(settings: Settings, turn: Turn, text: str) -> Query:
    """A query with everything that the settings say about it."""
    recall = settings.recall
    return Query(
        text=text,
        scope=Scope(
            kinds=tuple(recall.types),
            session_id=turn.session_id if recall.same_session_only else None,
        ),
        max_tokens=recall.max_tokens,
        budget=recall.budget,
    )


def plan_plain(settings: Settings, turn: Turn, *, degraded: str | None = None) -> Plan:
    """The prompt as one query; a follow-up brings the conversation before it.

    Args:
        settings: Effective settings.
        turn: The turn.
        degraded: Why no model made the plan, where one should have.
    """
    query = base_query(settings, turn, clip(turn.prompt.strip(), settings.recall.max_query_chars))
    plan = Plan(queries=(_with_context(query, turn),), judge=False)
    return _degraded(plan, degraded) if degraded else plan


def plan_keywords(settings: Settings, turn: Turn, *, reason: str) -> Plan:
    """The prompt's keywords in groups: the model that should have planned has failed (pi/R-07)."""
    texts = keyword_queries(turn.prompt, limit=turn_cap(settings))
    if not texts:
        return Plan(reason=f"{reason}, and the prompt has no search term", degraded=True)
    queries = tuple(base_query(settings, turn, text) for text in texts)
    return _degraded(Plan(queries=queries, judge=False), reason)


def is_follow_up(prompt: str) -> bool:
    """Whether a prompt can hardly be understood without what stood before it."""
    return len(terms(prompt)) < _FEW_TERMS or bool(_POINTS_BACK.search(prompt))


def _with_context(query: Query, turn: Turn) -> Query:
    if not is_follow_up(turn.prompt):
        return query
    said = [
        entry.text.strip()
        for entry in turn.entries[-6:]
        if entry.role in ("user", "assistant") and not entry.synthetic and entry.text.strip()
    ]
    context = "\n".join(clip(text, CONTEXT_CHARACTERS // 2) for text in said[-2:])
    return replace(query, context=context or None)


def _degraded(plan: Plan, reason: str) -> Plan:
    return Plan(queries=plan.queries, reason=f"{reason} (degraded)", degraded=True, judge=False)
