"""How a Hindsight bank is opened from the settings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hindsight_core.banks.hindsight.bank import HindsightBank
from hindsight_core.errors import ConfigError

if TYPE_CHECKING:
    import httpx

    from hindsight_core.config.settings import Settings
    from hindsight_core.services import Services

LONGEST_ID = 192


def side_path(banks_dir: Path, bank_id: str) -> Path:
    """The side table of a bank, beside the files of embedded banks."""
    from hindsight_core.banks.sqlite import bank_path

    return bank_path(banks_dir, bank_id).with_suffix(".hindsight")


def open_hindsight(
    settings: Settings,
    services: Services,
    *,
    bank_id: str,
    side: Path,
    transport: httpx.AsyncBaseTransport | None = None,
) -> HindsightBank:
    """The bank of this id on the configured server; nothing is sent before its first call.

    Raises:
        ConfigError: No server takes such an id.
    """
    if bank_id.strip(".") == "" or len(bank_id.encode()) > LONGEST_ID:
        raise ConfigError(
            f"bank.id {bank_id!r} is no name for a bank on a Hindsight server: give it one of at "
            f"most {LONGEST_ID} bytes that is not made of dots"
        )
    return HindsightBank(
        bank_id,
        settings,
        side=side,
        clock=services.clock,
        logger=services.logger,
        transport=transport,
    )
