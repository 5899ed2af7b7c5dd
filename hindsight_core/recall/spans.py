"""What telemetry tells of a recall: ids, counts and reasons, never a text of a fact (s1/S-TEL)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hindsight_core.memory import Hit, TagFilter
    from hindsight_core.recall.scopes import BankScope
    from hindsight_core.turns import RecallOutcome, Searched

_INJECTION = {"injected": "success", "degraded": "success", "failed": "error"}


def retrieval_ids(turn_id: str, outcome: RecallOutcome) -> list[str]:
    """A name for each search of a turn."""
    return [f"{turn_id}:{number}" for number, _ in enumerate(outcome.searched, start=1)]


def retrieval_fields(
    item: Searched,
    outcome: RecallOutcome,
    scope: BankScope | None,
    *,
    clean: Callable[[str], str],
) -> dict[str, Any]:
    """One search of one bank.

    Args:
        item: The search.
        outcome: The turn's, for what was injected of it.
        scope: How the bank was searched.
        clean: Redacts the query.
    """
    dropped = {id(hit) for hit, _ in item.dropped}
    kept = [hit for hit in item.raw if id(hit) not in dropped]
    injected = {hit.id for hit in outcome.hits} if outcome.block else set()
    shown = [hit for hit in item.candidates if hit.id in injected]
    return {
        "bankId": item.bank,
        "kind": scope.kind if scope else "project",
        "status": _status(item),
        "cache": "miss",
        "query": clean(item.query.text),
        "tagGroups": [group_wire(scope.tags)] if scope and scope.tags else None,
        "rawIds": _ids(item.raw),
        "keptIds": _ids(kept),
        "injectedIds": _ids(shown),
        "rawCount": item.found,
        "keptCount": len(kept),
        "injectedCount": len(shown),
        "results": [{"id": hit.fact.id, "tags": list(hit.fact.tags)} for hit in item.raw],
        "searchMs": item.took_ms,
        "error": item.error,
    }


def injection_fields(outcome: RecallOutcome, *, origin: str | None) -> dict[str, Any]:
    """What went before the model.

    Args:
        outcome: The turn's.
        origin: The turn whose block this is, when it came out of the cache.
    """
    # A reminder recalls nothing.
    block = outcome.block if outcome.block and outcome.block.kind != "reminder" else None
    text = block.text if block else None
    return {
        "status": _INJECTION.get(outcome.outcome, outcome.outcome),
        "cache": "hit" if origin else "miss" if outcome.searched else "none",
        "cacheOriginId": origin,
        "injected": block is not None,
        "injectedIds": [hit.fact.id for hit in outcome.hits] if block else [],
        "injectedCount": len(outcome.hits) if block else 0,
        "renderedHash": hashlib.sha256(text.encode()).hexdigest() if text else None,
        "renderedLength": len(text) if text else None,
        "reason": outcome.reason if outcome.outcome != "failed" else None,
        "error": outcome.reason if outcome.outcome == "failed" else None,
    }


def group_wire(wanted: TagFilter) -> Mapping[str, Any]:
    """A tag condition in the form of the server's ``tag_groups``."""
    for name, members in (("and", wanted.all_of), ("or", wanted.any_of)):
        if members:
            return {name: [group_wire(member) for member in members]}
    if wanted.none_of:
        refused = [{"not": group_wire(member)} for member in wanted.none_of]
        return refused[0] if len(refused) == 1 else {"and": refused}
    return {"tags": list(wanted.tags), "match": wanted.match}


def _status(item: Searched) -> str:
    if item.late:
        return "timeout"
    if item.error:
        return "error"
    return "success" if item.found else "empty"


def _ids(hits: Iterable[Hit]) -> list[str]:
    return [hit.fact.id for hit in hits if hit.fact.id]
