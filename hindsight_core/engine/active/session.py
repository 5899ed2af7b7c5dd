"""What active memory does in a session besides steers: sweeps, and the running investigation."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from hindsight_core.engine.active.daily import DailyGate
from hindsight_core.errors import HindsightError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import datetime

    from hindsight_core.runtime import Runtime

logger = logging.getLogger("hindsight_core.engine")
EVERY_S = 3600.0


class ActiveSession:
    """Active memory of one session.

    Args:
        runtime: The opened configuration.
        session_id: The session.
        sleep: Waits for the next look at the date.
    """

    def __init__(
        self,
        runtime: Runtime,
        *,
        session_id: str,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._runtime = runtime
        self._session_id = session_id
        self._sleep = sleep
        self._task: asyncio.Task[None] | None = None
        self.request: str | None = None
        self.since: datetime | None = None

    def start(self) -> None:
        """The session begins: sweep now, and once on each later day."""
        if self._task is None and self._runtime.settings.lifecycle.enabled:
            self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """The session ends; a sweep that is not done is for the next one."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    def began(self, prompt: str) -> None:
        """The user asked for something: an investigation begins, unless one is running."""
        if self.since is None and prompt.strip():
            self.request, self.since = prompt, self._runtime.clock()

    def settled(self) -> None:
        """The agent has nothing more to do."""
        self.request = self.since = None

    async def swept(self) -> None:
        """Sweep at once; trouble is logged and told."""
        await self._sweep("lifecycle.sweep")

    async def _run(self) -> None:
        gate = DailyGate(self._runtime.clock())
        await self._sweep("lifecycle.sweep")
        while True:
            await self._sleep(EVERY_S)
            if gate.claim(self._runtime.clock()) and not await self._sweep("lifecycle.daily_sweep"):
                gate.failed()

    async def _sweep(self, name: str) -> bool:
        tell = self._runtime.active_sink
        try:
            done = await self._runtime.active.sweep(self._session_id)
        except HindsightError as error:
            logger.info("the sweep failed: %s", error)
        except Exception:
            logger.exception("the sweep failed")
        else:
            tell(name, {"initialized": done.initialized, "expired": len(done.expired)})
            return True
        tell("lifecycle.sweep_error", {})
        return False
