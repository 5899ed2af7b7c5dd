"""The activity log's entry of a recall, and its account for a person (pi/R-22)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hindsight_core.recall.merge import Fate, merge
from hindsight_core.recall.outcomes import line_cap, query_texts
from hindsight_core.turns import RecallOutcome, Searched, Turn

if TYPE_CHECKING:
    from hindsight_core.config.settings import Settings
    from hindsight_core.memory import Hit


def recall_fields(
    turn: Turn, outcome: RecallOutcome, *, settings: Settings, took_ms: int
) -> dict[str, Any]:
    """Fields of the entry: enough to tell why each fact was or was not injected."""
    cap = line_cap(settings, turn) if outcome.cap is None else outcome.cap
    merged = merge(outcome.searched, shown=turn.shown, cap=cap)
    queries = [
        _query(item, fates) for item, fates in zip(outcome.searched, merged.fates, strict=True)
    ]
    injected = {hit.id for hit in outcome.hits}
    return {
        "turn": turn.id,
        "session": turn.session_id,
        "prompt": turn.prompt,
        "query": " | ".join(query_texts(outcome)),
        "mode": settings.recall.mode if turn.occasion == "prompt" else turn.occasion,
        "judged": outcome.details.get("judge") == "on",
        "boundary": outcome.boundary,
        "synthesized": outcome.briefing is not None,
        "outcome": outcome.outcome,
        "reason": outcome.reason,
        "found": outcome.found,
        "injected": len(injected),
        "skipped_shown": outcome.skipped_shown,
        "skipped_filtered": outcome.skipped_filtered,
        "queries": queries,
        "text": outcome.block.text if outcome.block else None,
        "took_ms": took_ms,
    }


def _query(searched: Searched, fates: tuple[tuple[Hit, Fate], ...]) -> dict[str, Any]:
    verdict = searched.verdict
    return {
        "text": searched.query.text,
        "bank": searched.bank,
        "found": searched.found,
        "score": verdict.score if verdict else None,
        "judge_failed": bool(verdict and verdict.failed),
        "error": searched.error,
        "hits": [_hit(hit, fate) for hit, fate in (*fates, *searched.dropped)],
    }


def _hit(hit: Hit, fate: str) -> Mapping[str, Any]:
    return {
        "id": hit.id,
        "text": hit.fact.text,
        "score": round(hit.score, 4),
        "parts": {name: round(value, 4) for name, value in hit.parts.items()},
        "outcome": fate,
    }
