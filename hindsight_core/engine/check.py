"""Opens what a session needs on disk, so that ``initialize`` can say what is broken."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from hindsight_core.memorize.labels import Labels, problems

if TYPE_CHECKING:
    from hindsight_core.runtime import Runtime


async def check(runtime: Runtime) -> list[str]:
    """Open the local files; a bank that is elsewhere is not asked.

    Returns:
        What the user should know, such as a damaged file that was set aside.

    Raises:
        HindsightError: A file of ours cannot be used: memory is off, with this reason.
    """
    bank = runtime.bank
    local = getattr(bank, "path", None) is not None
    opened = await asyncio.gather(
        runtime.queue.pending(bank.id),
        *([bank.ensure()] if local else []),
        return_exceptions=True,
    )
    # The same trouble is told in the same words each time, whichever file met it first.
    for problem in opened:
        if isinstance(problem, BaseException):
            raise problem
    labels = Labels.of(runtime.loaded)
    # What only a session knows is known when one writes.
    told = problems(runtime.settings, labels.values(bank=bank.id, session_id="s", host="host"))
    kept = {
        f"The file of bank {bank.id!r}": getattr(bank, "set_aside", None),
        "The write queue's file": runtime.queue.database.set_aside,
    }
    return [
        *told,
        *(
            f"{what} was damaged. It is kept as {aside}; a new one was begun."
            for what, aside in kept.items()
            if aside is not None
        ),
    ]
