"""The status line and ``status/get``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hindsight_core.errors import HindsightError

if TYPE_CHECKING:
    from hindsight_core.engine.live import LiveSession
    from hindsight_core.engine.notices import Notices
    from hindsight_core.engine.opening import Opening


def line(opening: Opening | None, live: LiveSession | None) -> str:
    """The widget's line, or why there is no memory here."""
    from hindsight_core.engine.widget import WidgetState, draw

    if live is not None:
        return live.watch.drawn.line
    if opening is None or opening.loaded is None:
        return f"memory: {opening.state if opening else 'not initialized'}"
    settings = opening.loaded.settings.status
    state = WidgetState(opening.loaded.bank.id or "no bank", inactive=opening.state)
    return draw(state, style=settings.style, width=settings.max_length).line


async def status(
    opening: Opening | None, live: LiveSession | None, notices: Notices
) -> dict[str, Any]:
    """State, counts, pending writes, last error and usage of this session."""
    result: dict[str, Any] = {
        "line": line(opening, live),
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
