"""Sends queued writes now and then, within bounds (s1/S-Q-4)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hindsight_core.config.settings import Queue

Drain = Callable[[float, int], Awaitable[None]]


class Flushing:
    """The periodic flush of one session; none unless ``queue.flush_interval_ms`` is set.

    Args:
        settings: How often, how many at once, how long.
        drain: Sends what waits: at most so many seconds, at most so many writes.
    """

    def __init__(self, settings: Queue, drain: Drain) -> None:
        self._settings = settings
        self._drain = drain
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """From now on; a second call changes nothing."""
        if self._settings.flush_interval_ms and self._task is None:
            self._task = asyncio.create_task(self._go_on())

    async def stop(self) -> None:
        """No further flush; one that is under way gives its writes back."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    async def _go_on(self) -> None:
        settings = self._settings
        while True:
            await asyncio.sleep(settings.flush_interval_ms / 1000)
            await self._drain(settings.flush_timeout_ms / 1000, settings.flush_max_jobs)
