"""What active memory does in a session besides steers: sweeps, and the running investigation."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from hindsight_core.engine.active.daily import DailyGate
from hindsight_core.errors import ConfigError, HindsightError
from hindsight_core.transcript.wire import entries_from_wire

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import datetime

    from hindsight_core.engine.live import LiveSession
    from hindsight_core.memorize.capture.candidate import Candidate
    from hindsight_core.memorize.capture.writer import Written
    from hindsight_core.transcript.entry import Entry

logger = logging.getLogger("hindsight_core.engine")
EVERY_S = 3600.0


class ActiveSession:
    """Active memory of one session.

    Args:
        live: The session.
        sleep: Waits for the next look at the date.
    """

    def __init__(
        self,
        live: LiveSession,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._live = live
        self._runtime = live.runtime
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

    async def store_result(self, candidate: Candidate) -> Written:
        """Store a finding of the investigation that is running (am/A-ASST-4).

        Raises:
            ConfigError: None is running, it has not taken long enough, or they are switched off.
            HindsightError: It could not be validated or written.
        """
        from hindsight_core.memorize.capture.asking import Work
        from hindsight_core.memorize.capture.runs import CAUSE_LIMIT, investigations
        from hindsight_core.transcript.entry import Window

        live, rules = self._live, self._live.runtime.settings.investigation
        if not rules.enabled:
            raise ConfigError("investigation.enabled is off: findings are not stored")
        if self.since is None:
            raise ConfigError("no investigation is running: there is nothing that shows this")
        elapsed = max(0, (live.runtime.clock() - self.since) // timedelta(milliseconds=1))
        if elapsed < rules.minimum_elapsed_ms:
            raise ConfigError(
                f"the investigation has taken {elapsed / 1000:.0f} s; findings are stored after "
                f"{rules.minimum_elapsed_ms / 1000:g} s (investigation.minimum_elapsed_ms)"
            )
        entries = live.runtime.sanitiser.entries(await self._entries())
        cause = live.runtime.sanitiser.text(self.request or "").strip()
        # Of a path that does not hold the request yet, the end is another investigation.
        runs = [run for run in investigations(entries)[-1:] if run.request.text.strip() == cause]
        found = runs[0].entries if runs else entries[-1:]
        text = runs[0].text(rules.context_characters) if runs else ""
        project, cause = live.runtime.active.project, cause[:CAUSE_LIMIT]
        window = Window(live.opening.session.id, live.host, found, reason="investigation")
        return await live.runtime.active.store_result(
            candidate, work=Work(text, cause, elapsed, project), window=window
        )

    async def _entries(self) -> tuple[Entry, ...]:
        """The path, as new as the host can say it."""
        live = self._live
        if "entries" in live.bridge.capabilities:
            with suppress(HindsightError):
                reply = await live.bridge.request("host/entries", {})
                if isinstance(reply.get("entries"), list):
                    return entries_from_wire(reply["entries"]).entries
        return tuple(live.path.entries)

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
            done = await self._runtime.active.sweep(self._live.opening.session.id)
        except HindsightError as error:
            logger.info("the sweep failed: %s", error)
        except Exception:
            logger.exception("the sweep failed")
        else:
            tell(name, {"initialized": done.initialized, "expired": len(done.expired)})
            return True
        tell("lifecycle.sweep_error", {})
        return False
