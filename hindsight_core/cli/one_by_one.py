"""Changing several things, each for itself: whoever reads of an error knows what was done."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from hindsight_core.errors import BankError

Item = TypeVar("Item")
Done = TypeVar("Done")


async def one_by_one(
    found: Sequence[Item], change: Callable[[Item], Awaitable[Done]]
) -> tuple[list[Done], BankError | None]:
    """What became of the items up to the first that failed, and that error."""
    done: list[Done] = []
    for item in found:
        try:
            done.append(await change(item))
        except BankError as error:
            if len(found) == 1:
                return done, error
            left = f"{len(done)} of {len(found)} were done before it"
            return done, BankError(f"{error} ({left})", retryable=error.retryable)
    return done, None
