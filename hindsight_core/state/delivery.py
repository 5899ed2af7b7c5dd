"""One try to deliver a write: to the bank, with a heartbeat, and whether the bank works at all."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from hindsight_core.errors import BankError, HindsightError, StorageError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from hindsight_core.banks.base import Bank
    from hindsight_core.memory import Receipt
    from hindsight_core.state.jobs import Job
    from hindsight_core.state.queue import Queue

PROBE_S = 5.0


@asynccontextmanager
async def heart(queue: Queue, job: Job) -> AsyncIterator[None]:
    """Keep a claim while its delivery takes long."""

    async def beat() -> None:
        while True:
            await asyncio.sleep(queue.policy.lease / 3)
            with suppress(StorageError):  # a busy file: the next beat comes in time
                if not await queue.heartbeat(job):
                    return

    task = asyncio.create_task(beat())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def sent(bank: Bank, job: Job) -> Receipt:
    """Give a write to its bank; raises what the bank raises."""
    if not job.document.append:
        return await bank.retain(job.document)
    append: Callable[..., Awaitable[Receipt]] | None = getattr(bank, "append", None)
    if append is None:
        raise BankError(
            f"{bank.id} cannot add to a document: it is another bank now", retryable=False
        )
    # A try that is repeated after a crash or a lost answer is the same addition (s1/S-RET-9).
    return await append(job.document, operation=f"{job.id}:{job.content_hash}")


async def answers(bank: Bank) -> bool:
    """Whether a bank works at all, so that a failure is the document's own."""
    try:
        async with asyncio.timeout(PROBE_S):
            await bank.stats()
    except (HindsightError, TimeoutError):
        return False
    except Exception:  # a third party's bank may raise anything
        return False
    return True
