"""Fields of spans about writes and about what the agent asked for (s1/S-TEL-1); never a text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hindsight_core.memorize.report import MemorizeReport

_STATUS = {"ok": "success", "degraded": "success", "empty": "empty", "failed": "error"}
_WRITTEN = {"stored": "success", "known": "success", "queued": "success", "failed": "error"}
READING = ("hindsight_recall", "hindsight_reflect", "memory_search")
WRITING = ("hindsight_retain", "hindsight_retain_user")


def asked(
    tool: str,
    arguments: Mapping[str, Any],
    details: Mapping[str, Any],
    *,
    bank: str,
    clean: Callable[[str], str],
) -> tuple[str, Mapping[str, Any]] | None:
    """Phase and fields of a tool's call; None for a tool that neither reads nor writes.

    Args:
        tool: Its name.
        arguments: As the agent gave them.
        details: Of the result.
        bank: The project's.
        clean: Redacts the query.
    """
    common = {"mode": "explicit", "cache": "none", "kind": tool}
    outcome = str(details.get("outcome"))
    if tool in WRITING:
        status = _WRITTEN.get(outcome, "skipped")
        return "retain", {**common, "status": status, "documentId": details.get("document")}
    if tool not in READING:
        return None
    hits = [hit for hit in details.get("hits") or () if isinstance(hit, Mapping)]
    ids = [str(hit.get("id", "")).partition(":")[2] for hit in hits]
    ids = ids or [str(one).partition(":")[2] for one in details.get("facts") or ()]
    named = arguments.get("bank")
    return "retrieval", {
        **common,
        "status": _STATUS.get(outcome, "error"),
        "bankId": named if isinstance(named, str) and named else bank,
        "query": clean(str(arguments.get("query") or "")) or None,
        "rawIds": ids,
        "keptIds": ids,
        "rawCount": len(ids),
        "keptCount": len(ids),
        "results": [{"id": one} for one in ids],
    }


def retained(bank: str, report: MemorizeReport) -> Mapping[str, Any]:
    """Fields of a part of a session on its way to a bank."""
    failed = report.outcome == "failed"
    return {
        "bankId": bank,
        "status": _WRITTEN.get(report.outcome, "skipped"),
        "cache": "none",
        "documentId": report.document_id,
        "factIds": [fact.id for fact in report.stored] or None,
        "reason": None if failed else report.reason,
        "error": report.reason if failed else None,
    }
