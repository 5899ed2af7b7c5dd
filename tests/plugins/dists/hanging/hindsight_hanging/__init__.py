"""Never answers."""

from __future__ import annotations

import asyncio
import threading

from hindsight_core import hookimpl

release = threading.Event()


@hookimpl
def hindsight_plan_recall(turn: object) -> None:
    """Blocks its thread."""
    release.wait()


@hookimpl
async def hindsight_remind(turn: object) -> None:
    """Ignores its cancellation for as long as it can."""
    while not release.is_set():
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            if release.is_set():
                raise
