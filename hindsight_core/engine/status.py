"""The status line and ``status/get``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hindsight_core.errors import HindsightError

if TYPE_CHECKING:
    from hindsight_core.engine.live import LiveSession
    from hindsight_core.engine.notices import Notices
    from hindsight_core.engine.opening import Opening
    from hindsight_core.turns import RecallOutcome


def line(opening: Opening | None, notices: Notices, *, outcome: RecallOutcome | None = None) -> str:
    """One line for a status bar: the bank, the last turn, and whether something is wrong."""
    if opening is None:
        return "memory: not initialized"
    bank = opening.loaded.bank.id if opening.loaded and opening.loaded.bank.id else "no bank"
    if opening.state != "active":
        return f"memory: {opening.state}"
    parts = [f"memory: {bank}"]
    if outcome is not None:
        parts.append(_said(outcome))
    if notices.last_error:
        parts.append("trouble")
    return " · ".join(parts)


def _said(outcome: RecallOutcome) -> str:
    """Looked and found, looked and found nothing, did not look, failed: never confused."""
    if outcome.hits:
        by_words = " by words" if outcome.outcome == "degraded" else ""
        return f"recalled {len(outcome.hits)}{by_words}"
    words = {"empty": "nothing relevant", "failed": "recall failed"}
    return words.get(outcome.outcome, "not looked")


async def status(
    opening: Opening | None, live: LiveSession | None, notices: Notices
) -> dict[str, Any]:
    """State, counts, pending writes, last error and usage of this session."""
    result: dict[str, Any] = {
        "line": line(opening, notices),
        "state": opening.state if opening else "off",
        "bank": opening.bank_wire if opening else None,
        "counts": None,
        "pending": 0,
        "lastError": notices.last_error,
        "usage": {},
    }
    if live is None:
        return result
    try:
        stats = await live.runtime.bank.stats()
        result["counts"] = {"documents": stats.documents, "facts": stats.facts}
    except HindsightError as error:
        result["lastError"] = str(error)
    result["pending"] = await live.work.pending()
    result["usage"] = dict(live.runtime.meter.snapshot())
    return result
