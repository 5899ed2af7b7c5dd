"""Background work of a session: memorize runs one after another, recovery, draining."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from hindsight_core.errors import HindsightError
from hindsight_core.transcript.entry import Transcript

if TYPE_CHECKING:
    from hindsight_core.engine.notices import Notices
    from hindsight_core.memorize.runner import MemorizeReport
    from hindsight_core.runtime import Runtime
    from hindsight_core.transcript.entry import Entry

logger = logging.getLogger("hindsight_core.engine")


class Work:
    """The write side of one session.

    Args:
        runtime: The opened configuration.
        notices: Where trouble is told.
        host: The agent program's name.
        session_id: The session whose windows these are.
    """

    def __init__(
        self, runtime: Runtime, *, notices: Notices, host: str, session_id: str
    ) -> None:
        self._runtime = runtime
        self._notices = notices
        self._host = host
        self._session_id = session_id
        self._last: asyncio.Task[None] | None = None
        self._background: set[asyncio.Task[None]] = set()
        self.lock = asyncio.Lock()

    def memorize(self, entries: Sequence[Entry], *, reason: str) -> asyncio.Task[None]:
        """Schedule a run over a snapshot of the path; runs of a session keep their order."""
        before, snapshot = self._last, tuple(entries)

        async def run() -> None:
            if before is not None:
                with suppress(Exception):
                    await asyncio.shield(before)
            await self._memorize(self._session_id, snapshot, reason=reason)

        self._last = asyncio.create_task(run())
        return self._last

    def start(self) -> None:
        """Take up what dead sessions of this bank left behind, and drain the queue."""
        task = asyncio.create_task(self._recover())
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def finish(self, *, timeout_s: float) -> int:
        """Wait for scheduled runs, flush the queue; how many writes and windows are left."""
        loop = asyncio.get_running_loop()
        end = loop.time() + timeout_s
        if self._last is not None and not self._last.done():
            await asyncio.wait([self._last], timeout=max(0.0, timeout_s - 0.2))
            if not self._last.done():
                self._last.cancel()
                await asyncio.wait([self._last], timeout=0.2)
        for task in tuple(self._background):
            task.cancel()
        await self._drain(deadline_s=max(0.05, end - loop.time()))
        return await self.pending()

    async def pending(self) -> int:
        """Queued writes and windows kept for another try, of this bank."""
        try:
            bank = self._runtime.bank_id
            waiting = await self._runtime.queue.pending(bank)
            return waiting + await self._runtime.journal.pending(bank)
        except HindsightError as error:
            self._notices.trouble("state", str(error))
            return 1

    async def _memorize(
        self, session_id: str, entries: Sequence[Entry], *, reason: str, host: str | None = None
    ) -> None:
        transcript = Transcript(
            session_id=session_id, host=host or self._host, entries=tuple(entries)
        )
        try:
            async with self.lock:
                reports = await self._runtime.memorizer.remember_transcript(
                    transcript, reason=reason
                )
                await self._settle(session_id, entries, reports)
        except HindsightError as error:
            self._notices.trouble("memorize", f"Not memorized yet, kept for another try: {error}")
        except Exception as error:
            logger.exception("memorize failed")
            self._notices.trouble("memorize", f"Not memorized yet, kept for another try: {error}")

    async def _settle(
        self, session_id: str, entries: Sequence[Entry], reports: Sequence[MemorizeReport]
    ) -> None:
        for report in reports:
            self._runtime.record(report, session=session_id)
        failed = [r for r in reports if r.outcome == "failed"]
        if failed:
            self._notices.trouble(
                "memorize", f"Not memorized yet, kept for another try: {failed[0].reason}"
            )
            return
        self._notices.over("memorize", "Memorizing works again.")
        if entries:
            await self._runtime.journal.forget(
                self._runtime.bank_id, session_id, through=entries[-1].id
            )

    async def _recover(self) -> None:
        try:
            await self._drain(deadline_s=30)
            if not self._runtime.settings.memorize.enabled:
                return
            for left in await self._runtime.journal.recoverable(self._runtime.bank_id):
                await self._memorize(
                    left.session_id, left.entries, reason="recover", host=left.host
                )
        except HindsightError as error:
            self._notices.trouble("state", str(error))
        except Exception:
            logger.exception("recovery failed")

    async def _drain(self, *, deadline_s: float) -> None:
        try:
            await self._runtime.outbox.drain(self._runtime.bank, deadline_s=deadline_s)
        except HindsightError as error:
            self._notices.trouble("bank", f"Writes are kept until the bank is back: {error}")
