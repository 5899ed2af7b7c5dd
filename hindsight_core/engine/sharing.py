"""Facts that came with the repository: taken over when a session of a trusted project begins."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from hindsight_core.errors import HindsightError

if TYPE_CHECKING:
    from pathlib import Path

    from hindsight_core.engine.notices import Notices
    from hindsight_core.memory import Fact
    from hindsight_core.runtime import Runtime
    from hindsight_core.sharing.conflicts import Resolve
    from hindsight_core.sharing.fact_file import FactFile
    from hindsight_core.sharing.sync import Sync

logger = logging.getLogger("hindsight_core.engine")
FIRST_TURN_S = 0.5
"""How long the first turn waits for facts that are being taken over."""


async def sync_of(
    runtime: Runtime, checkout: Path, *, how: Resolve = "both", dry_run: bool = False
) -> Sync:
    """A synchronisation of the project's bank with a checkout, not begun.

    Raises:
        StorageError: The review queue cannot be read: then nobody knows what was reviewed.
    """
    from hindsight_core.sharing.baseline import Baseline
    from hindsight_core.sharing.folder import FactFolder
    from hindsight_core.sharing.shareable import Shareable
    from hindsight_core.sharing.sync import Sync

    security, sanitiser = runtime.settings.security, runtime.sanitiser

    def clean(fact: Fact) -> Fact:
        return sanitiser.fact(fact, limit=security.max_fact_characters)

    async def forget(fact_id: str) -> None:
        await runtime.active.forget([fact_id])

    home = runtime.loaded.paths.home
    return Sync(
        bank=runtime.bank,
        folder=FactFolder(checkout),
        baseline=Baseline.load(home, bank=runtime.bank_id, checkout=checkout),
        shareable=Shareable(clean, await _waiting(runtime), tuple(security.private_paths)),
        clock=runtime.clock,
        refused=_refused,
        forget=forget,
        how=how,
        dry_run=dry_run,
    )


async def _waiting(runtime: Runtime) -> frozenset[str]:
    """Documents that wait for a review."""
    from hindsight_core.state.review import ReviewQueue

    queue = ReviewQueue(runtime.queue, runtime.clock)
    items = await queue.pending(bank=runtime.bank_id, limit=await queue.count(runtime.bank_id))
    return frozenset(item.written.document_id for item in items)


def _refused(file: FactFile) -> str | None:
    from hindsight_core.memorize.poison import is_injection

    if is_injection(file.text):
        return "it speaks to the agent in the form of an instruction: it is not taken over"
    return None


class Sharing:
    """The session's part: it reads files, and never writes one.

    Args:
        runtime: The opened configuration.
        notices: Where the user is told what to do.
    """

    def __init__(self, runtime: Runtime, notices: Notices) -> None:
        self._runtime = runtime
        self._notices = notices
        self._task: asyncio.Task[None] | None = None
        self._waited = False

    def start(self) -> None:
        """Look once a session, in the background."""
        if self._task is None and self._folder() is not None:
            self._task = asyncio.create_task(self._run())

    async def ready(self) -> None:
        """Wait a moment, once, for what is being taken over; not at all when that is done."""
        if self._waited or self._task is None or self._task.done():
            return
        self._waited = True
        await asyncio.wait([self._task], timeout=FIRST_TURN_S)

    async def stop(self) -> None:
        """The session ends: what is not taken over yet is for the next one."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    def _folder(self) -> Path | None:
        from hindsight_core.sharing.folder import FOLDER

        checkout = self._runtime.loaded.project.checkout
        return checkout if checkout is not None and (checkout / FOLDER).is_dir() else None

    async def _run(self) -> None:
        try:
            await self._take_in()
        except HindsightError as error:
            logger.info("shared facts: %s", error)
        except Exception:
            logger.exception("shared facts could not be taken over")

    async def _take_in(self) -> None:
        runtime, notices = self._runtime, self._notices
        checkout = self._folder()
        if checkout is None:
            return
        if not runtime.loaded.project.trusted:
            notices.info(
                "shared",
                "This project brings facts along (.hindsight/facts). They are not used until you "
                "have looked at them and trust the project: in your agent where it asks for that, "
                "else with `hindsight-mem trust`.",
            )
            return
        work = await sync_of(runtime, checkout)
        seen = await asyncio.to_thread(work.folder.signature)
        if seen == work.baseline.signature:
            return
        report = await work.take_in()
        if report.taken or report.erased:
            logger.info("shared facts: %d taken over", len(report.taken))
            runtime.log.write(
                "share", bank=runtime.bank_id, taken=len(report.taken), erased=len(report.erased)
            )
        if report.conflicts:
            notices.info(
                "shared-conflicts",
                f"{len(report.conflicts)} shared facts have conflict markers: run "
                "`hindsight-mem bank sync`.",
            )
