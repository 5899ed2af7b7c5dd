"""How long a call may take, and what becomes of work that is not done by then."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from hindsight_core.host import Limits

if TYPE_CHECKING:
    from hindsight_core.config.settings import Settings

TURN_END_MS = 1_000
_late: set[asyncio.Task[Any]] = set()


def limits(settings: Settings, ceiling: Limits | None) -> Limits:
    """The configured bounds, no higher than the host's own cuts."""
    top = ceiling or Limits(*[10**9] * 4)
    return Limits(
        turn_start_ms=min(settings.recall.timeout_ms, top.turn_start_ms),
        turn_end_ms=min(TURN_END_MS, top.turn_end_ms),
        compact_ms=min(settings.memorize.compact_timeout_ms, top.compact_ms),
        session_end_ms=min(settings.queue.shutdown_timeout_ms, top.session_end_ms),
    )


def at_end(limits: Limits, settings: Settings, *, granted: object) -> float:
    """Seconds that a session's end may take.

    Args:
        limits: The bounds of the session.
        settings: What the user allows at most.
        granted: Milliseconds that the host gives this time, more than it always can.
    """
    milliseconds = limits.session_end_ms
    if isinstance(granted, int) and granted > milliseconds:
        milliseconds = min(granted, settings.queue.shutdown_timeout_ms)
    return milliseconds / 1000


async def within(milliseconds: int, work: Coroutine[Any, Any, None]) -> None:
    """Wait for work that far; it goes on behind. A caller that is cancelled cancels it."""
    task = asyncio.create_task(work)
    _late.add(task)
    task.add_done_callback(_late.discard)
    try:
        await asyncio.wait([task], timeout=milliseconds / 1000)
    except asyncio.CancelledError:
        task.cancel()
        raise
