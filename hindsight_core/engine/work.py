"""Background work of a session: memorize runs one after another, recovery, draining."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from hindsight_core.budget import work
from hindsight_core.engine.after_write import Reflecting
from hindsight_core.engine.flushing import Flushing
from hindsight_core.engine.targets import Targets
from hindsight_core.engine.written import told
from hindsight_core.errors import HindsightError
from hindsight_core.transcript.entry import Transcript

if TYPE_CHECKING:
    from hindsight_core.engine.deciding import Deciding
    from hindsight_core.engine.notices import Notices
    from hindsight_core.engine.watch import Watch
    from hindsight_core.memorize.runner import MemorizeReport
    from hindsight_core.runtime import Runtime
    from hindsight_core.state.journal import LeftOver
    from hindsight_core.state.outbox import DrainReport
    from hindsight_core.transcript.entry import Entry

logger = logging.getLogger("hindsight_core.engine")
KEPT = "Not memorized yet, kept for another try"
_DRAIN_S = 30.0


class Work:
    """The write side of one session.

    Args:
        runtime: The opened configuration.
        notices: Where trouble is told.
        deciding: Says which banks a window goes to.
        watch: Is told when a run begins and what it came to.
        host: The agent program's name.
        session_id: The session whose windows these are.
    """

    def __init__(
        self,
        runtime: Runtime,
        *,
        notices: Notices,
        deciding: Deciding,
        watch: Watch,
        host: str,
        session_id: str,
    ) -> None:
        self._runtime = runtime
        self._notices = notices
        self._watch = watch
        self._spans = deciding.spans
        self._targets = Targets(runtime, deciding)
        self.reflecting = Reflecting(runtime, session_id=session_id)
        self._flushing = Flushing(runtime.settings.queue, self._flush)
        self._host = host
        self._session_id = session_id
        self._last: asyncio.Task[None] | None = None
        self._scheduled: set[asyncio.Task[None]] = set()
        self._background: asyncio.Task[None] | None = None
        self._closing = False
        self._lock = asyncio.Lock()

    def memorize(self, entries: Sequence[Entry], *, reason: str, before: str | None = None) -> None:
        """Schedule a run over a snapshot of the path; runs of a session keep their order.

        Args:
            entries: The active path.
            reason: Why now, as pi/M-01 names it.
            before: The first entry that stays for later.
        """
        earlier, path = self._last, tuple(entries)
        due = tuple(takewhile(lambda entry: entry.id != before, path))

        async def run() -> None:
            if earlier is not None:
                await asyncio.wait([earlier])
            if not await self._is_past(path, due):
                transcript = Transcript(self._session_id, self._host, due)
                await self._memorize(transcript, reason=reason)

        self._last = asyncio.create_task(run())
        self._scheduled.add(self._last)
        self._last.add_done_callback(self._scheduled.discard)

    def start(self, *, recover: bool) -> None:
        """Drain the queue and take up what dead sessions of this bank left behind."""
        self._flushing.start()
        if self._background is None or self._background.done():
            self._background = asyncio.create_task(self._take_up(recover=recover))

    async def settled(self) -> None:
        """Wait for the runs that are scheduled."""
        if self._scheduled:
            await asyncio.wait(set(self._scheduled))

    def abandon(self) -> None:
        """Stop what may ask a model; its windows are in the journal."""
        for task in (*self._scheduled, self._background):
            if task is not None:
                task.cancel()

    async def finish(self, *, timeout_s: float) -> int:
        """Wait for scheduled runs, flush the queue; how many writes and windows are left."""
        loop = asyncio.get_running_loop()
        end = loop.time() + timeout_s
        self._closing = True
        await self._flushing.stop()
        reserve = min(1.0, timeout_s / 4)
        waiting = {t for t in (*self._scheduled, self._background) if t is not None}
        if waiting:
            _, late = await asyncio.wait(waiting, timeout=timeout_s - reserve)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late, timeout=reserve / 4)
        left = max(0.05, end - loop.time() - reserve / 2)
        await self._drain(deadline_s=left, most=self._runtime.settings.queue.shutdown_max_jobs)
        await self.reflecting.stop()
        return await self.pending()

    async def caught_up(self, *, timeout_s: float, recover: bool) -> int:
        """Drain and recover, wait for it that long; how many writes and windows are left."""
        self.start(recover=recover)
        if self._background is not None:
            await asyncio.wait([self._background], timeout=timeout_s)
        return await self.pending()

    async def pending(self) -> int:
        """Queued writes and windows kept for another try, of this bank."""
        try:
            bank = self._runtime.bank_id
            waiting = await self._runtime.queue.pending(bank)
            for other in self._targets.others:
                waiting += await self._runtime.queue.pending(other)
            return waiting + await self._runtime.journal.pending(bank)
        except HindsightError as error:
            self._notices.trouble("state", str(error))
            return 1

    async def _is_past(self, path: Sequence[Entry], due: Sequence[Entry]) -> bool:
        """Whether the cursor stands behind what is due: it would not be found in there."""
        if len(due) == len(path):
            return False
        ids = [self._runtime.sanitiser.entry_id(entry.id) for entry in path]
        bank, session = self._runtime.bank_id, self._session_id
        try:
            cursor = await self._runtime.sessions.cursor(bank, session, path=ids)
        except HindsightError as error:
            self._notices.trouble("state", str(error))
            return False
        return cursor in ids[len(due) :]

    async def _memorize(self, transcript: Transcript, *, reason: str) -> None:
        try:
            async with self._lock:
                started = self._spans.now()
                with self._watch.memorizing(reason), work(session_id=transcript.session_id):
                    reports = await self._targets.remember(transcript, reason=reason)
                for bank, report in reports:
                    self._spans.retained(bank, report, started=started)
                await self._settle(transcript, reports, reason=reason)
                if (said := told(reason, [report for _, report in reports])) is not None:
                    self._notices.say(said)
        except HindsightError as error:
            self._broken_off(str(error))
        except Exception as error:
            logger.exception("memorize failed")
            self._broken_off(str(error))

    def _broken_off(self, why: str) -> None:
        self._watch.memorize_failed(why)
        self._notices.trouble("memorize", f"{KEPT}: {why}")

    async def _settle(
        self,
        transcript: Transcript,
        reports: Sequence[tuple[str, MemorizeReport]],
        *,
        reason: str,
    ) -> None:
        self._watch.memorized([report for _, report in reports])
        for bank, report in reports:
            self._runtime.record(report, session=transcript.session_id, bank=bank)
            if report.outcome == "stored":
                self.reflecting.start(bank)
            # Without a reason it is only that another process is just delivering it.
            if report.outcome == "queued" and report.reason:
                self._bank_away(report.reason)
            if report.vetoed:
                self._notices.info("veto", f"Part of this session is not kept: {report.reason}")
        failed = [report for _, report in reports if report.outcome == "failed"]
        if failed:
            self._notices.trouble("memorize", f"{KEPT}: {failed[0].reason}")
            return
        self._notices.over("memorize", "Memorizing works again.")
        if not self._runtime.memorizer.clears(reason):
            return
        # The journal knows an entry only if something of it was left by the sanitiser.
        for entry in reversed(transcript.entries):
            if (clean := self._runtime.sanitiser.entry(entry)) is not None:
                await self._runtime.journal.forget(
                    self._runtime.bank_id, transcript.session_id, through=clean.id
                )
                break
        if any(report.vetoed for _, report in reports):
            await self._runtime.queue.database.scrub()

    async def _take_up(self, *, recover: bool) -> None:
        try:
            await self._drain(deadline_s=_DRAIN_S)
            if recover:
                await self._recover_all()
        except HindsightError as error:
            self._notices.trouble("state", str(error))
        except Exception:
            logger.exception("recovery failed")

    async def _recover_all(self) -> None:
        # A session that had gone back and on another way comes once for each way; one that
        # failed is left to the next start.
        tried: set[tuple[str, str]] = set()
        while found := await self._runtime.journal.recoverable(self._runtime.bank_id):
            fresh = [left for left in found if left.key not in tried]
            for left in found:
                if left.key in tried or (self._closing and left is not found[0]):
                    await self._release(left)
                    continue
                tried.add(left.key)
                await self._recover(left)
            # One at least, however short a session is; the others are for the next.
            if self._closing or not fresh:
                return

    async def _recover(self, left: LeftOver) -> None:
        transcript = Transcript(left.session_id, left.host, left.entries)
        await self._memorize(transcript, reason="recover")
        await self._release(left)

    async def _release(self, left: LeftOver) -> None:
        if left.session_id != self._session_id:
            await self._runtime.journal.release(self._runtime.bank_id, left.session_id)

    async def _flush(self, deadline_s: float, most: int) -> None:
        await self._drain(deadline_s=deadline_s, most=most)

    async def _drain(self, *, deadline_s: float, most: int | None = None) -> None:
        send = self._runtime.outbox.drain
        try:
            report = await send(self._runtime.bank, deadline_s=deadline_s, max_jobs=most)
            for other in self._targets.others:
                if await self._runtime.queue.pending(other):
                    bank = self._runtime.open_bank(other)
                    await send(bank, deadline_s=deadline_s, max_jobs=most)
        except HindsightError as error:
            self._bank_away(str(error))
            return
        self._drained(report)

    def _drained(self, report: DrainReport) -> None:
        if report.away:
            self._bank_away(report.reason)
        elif report.sent and not report.pending:
            self._notices.over("bank", "The bank is back; what was kept is stored.")

    def _bank_away(self, reason: str | None) -> None:
        self._notices.bank_away("bank", reason)
