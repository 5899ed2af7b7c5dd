"""Puts things in order when a session begins, in the background: no turn waits for it."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from hindsight_core.engine.sharing import Sharing
from hindsight_core.errors import HindsightError

if TYPE_CHECKING:
    from hindsight_core.engine.notices import Notices
    from hindsight_core.runtime import Runtime

logger = logging.getLogger("hindsight_core.engine")


class Upkeep:
    """Prunes what nobody needs, lets reviews expire, makes sure of a bank that is elsewhere.

    Trouble is logged: the next session tries it again.

    Args:
        runtime: The opened configuration.
        watched: The widget asks the bank already, and makes sure of it.
        notices: Where the user is told of shared facts and of a history that could be read; None
            does neither.
    """

    def __init__(self, runtime: Runtime, *, watched: bool, notices: Notices | None = None) -> None:
        self._runtime = runtime
        self._sharing = Sharing(runtime, notices) if notices is not None else None
        self._notices = notices
        self._watched = watched
        self._task: asyncio.Task[None] | None = None

    def start(self, reason: str = "startup") -> None:
        """Once a session; a process that goes on with one has nothing to tidy up again."""
        if self._task is None and reason != "reload":
            self._task = asyncio.create_task(self._run())
            if self._sharing is not None:
                self._sharing.start()

    async def ready(self) -> None:
        """Wait a moment for facts that came with the repository; at once when they are in."""
        if self._sharing is not None:
            await self._sharing.ready()

    async def stop(self) -> None:
        """The session ends: what is not done yet is for the next one."""
        if self._sharing is not None:
            await self._sharing.stop()
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def finished(self) -> None:
        """Wait for it."""
        if self._task is not None:
            await self._task

    async def _run(self) -> None:
        for step in (self._ensure, self._offer, self._prune, self._expire):
            try:
                await step()
            except HindsightError as error:
                logger.info("upkeep: %s", error)
            except Exception:
                logger.exception("upkeep failed")

    async def _ensure(self) -> None:
        """The bank is there, with our missions (pi/W-06); one that is a file was opened already."""
        bank = self._runtime.bank
        if not self._watched and getattr(bank, "path", None) is None:
            await bank.ensure()

    async def _offer(self) -> None:
        """What a cold repository could bring, told once."""
        if self._notices is not None:
            from hindsight_core.engine.offer import offer_history

            await offer_history(self._runtime, self._notices)

    async def _prune(self) -> None:
        from hindsight_core.state.retention import prune

        runtime = self._runtime
        await prune(runtime.queue, runtime.sessions, clock=runtime.clock)
        await runtime.queue.database.scrub()

    async def _expire(self) -> None:
        """Nobody has to open the review for its time to run out (pi/Q-05)."""
        from hindsight_core.engine.reviewing import Review

        review = Review(self._runtime)
        try:
            await review.expire()
        finally:
            await review.close()
