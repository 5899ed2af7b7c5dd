"""Opens the banks of one session; one that cannot be opened costs only itself."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from hindsight_core.errors import HindsightError

if TYPE_CHECKING:
    from hindsight_core.banks.base import Bank

logger = logging.getLogger("hindsight_core.banks")


def open_several(
    open_one: Callable[[str], Bank], bank_ids: Iterable[str], *, own: str
) -> dict[str, Bank]:
    """Banks by id, in their order.

    Args:
        open_one: Opens a bank by its id.
        bank_ids: Which.
        own: The project's bank: without it there is no recall.

    Raises:
        HindsightError: The project's bank cannot be opened.
    """
    found: dict[str, Bank] = {}
    for bank_id in bank_ids:
        try:
            found[bank_id] = open_one(bank_id)
        except HindsightError as error:
            if bank_id == own:
                raise
            logger.warning("bank %s is left out: %s", bank_id, error)
    return found
