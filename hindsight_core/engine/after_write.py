"""``retain.post_reflect``: let a server think about what it was just given (s1/S-RET-7)."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hindsight_core.runtime import Runtime

logger = logging.getLogger("hindsight_core.engine")
LIMIT_S = 180.0


class Reflecting:
    """Asks for a reflection after a write, in the background and best effort.

    What comes of it is an entry of the activity log; that it failed is never told as a failed
    write, for the write is done. Only a bank that reflects by itself is asked: its model thinks,
    not ours.

    Args:
        runtime: The opened configuration.
        session_id: The session, for the log.
    """

    def __init__(self, runtime: Runtime, *, session_id: str) -> None:
        self._runtime = runtime
        self._session_id = session_id
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def start(self, bank_id: str) -> None:
        """After a write; while one of the same bank is under way nothing more is asked."""
        if not self._runtime.settings.retain.post_reflect:
            return
        running = self._tasks.get(bank_id)
        if running is None or running.done():
            self._tasks[bank_id] = asyncio.create_task(self._reflect(bank_id))

    async def stop(self) -> None:
        """The session ends: nobody waits for a thought."""
        for task in self._tasks.values():
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _reflect(self, bank_id: str) -> None:
        from hindsight_core.recall.reflect import reflect

        runtime, outcome, reason, text = self._runtime, "failed", None, ""
        try:
            bank = runtime.open_bank(bank_id)
            if not bank.capabilities.reflects:
                return
            project = runtime.loaded.project.name or bank_id
            from hindsight_core.prompt_contexts import AfterWrite

            asked = runtime.prompts.render("bank/after_write", AfterWrite(project)).text
            async with asyncio.timeout(LIMIT_S):
                answer = await reflect(bank, runtime.stages, asked, sanitiser=runtime.sanitiser)
            outcome, reason, text = answer.outcome, answer.reason, answer.text
        except TimeoutError:
            reason = f"no answer within {LIMIT_S:g} s"
        except Exception as error:
            logger.info("no reflection after a write: %s", error)
            reason = f"{type(error).__name__}: {error}"
        runtime.log.write(
            "reflect",
            session=self._session_id,
            bank=bank_id,
            origin="after-write",
            outcome=outcome,
            reason=reason,
            answer=text,
        )
