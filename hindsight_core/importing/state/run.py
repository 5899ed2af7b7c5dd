"""Takes over all that is found of the plugins' state, each part by itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from hindsight_core.errors import HindsightError
from hindsight_core.importing.state import (
    cursors,
    dispatched,
    jobs,
    modes,
    receipts,
    review,
    vectors,
    watermarks,
)

if TYPE_CHECKING:
    from hindsight_core.importing.state.desk import Desk, Tally

Part = Callable[["Desk"], Awaitable["Tally"]]
# What a person chose comes first: a session that is to be ignored is so for the others, too.
PARTS: tuple[Part, ...] = (
    modes.adopt,
    # Where a window ended is noted with its document, before it is noted as a watermark.
    dispatched.adopt,
    watermarks.adopt,
    cursors.adopt,
    jobs.adopt,
    review.adopt,
    receipts.adopt,
    vectors.adopt,
)


async def adopt(desk: Desk) -> list[Tally]:
    """Every part in order; one that fails as a whole says so and stops no other."""
    tallies = []
    for part in PARTS:
        try:
            tallies.append(await part(desk))
        except HindsightError as error:
            from hindsight_core.importing.state.desk import Tally

            name = part.__module__.rpartition(".")[2]
            tallies.append(Tally(name, left=[str(error)]))
    return tallies
