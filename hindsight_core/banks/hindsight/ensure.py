"""Makes sure that the bank is there and has our missions (pi/H-02, pi/H-04, pi/W-06)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from hindsight_core.banks.hindsight.errors import ServerError
from hindsight_core.errors import BankError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hindsight_core.banks.hindsight.api import Api
    from hindsight_core.config.settings.bank import BankEntry

VERBATIM = "hindsight-mem-verbatim"
"""Name of the retain strategy that keeps a text word for word, without the server's model."""
_STRATEGY = {"retain_extraction_mode": "chunks", "retain_chunk_size": 8000}


def at_creation(entries: Sequence[BankEntry], bank_id: str) -> dict[str, Any]:
    """Configuration that counts only for a bank that is made here (s1/S-CFG-7)."""
    sizes = (e.retain_structured_chunk_size for e in entries if e.id == bank_id)
    size = next(sizes, None)
    return {"retain_structured_chunk_size": size} if size else {}


async def ensure_bank(
    api: Api,
    bank_id: str,
    *,
    missions: Mapping[str, str],
    logger: logging.Logger,
    at_creation: Mapping[str, Any] | None = None,
) -> None:
    """Create the bank where it is missing, and set the missions that differ.

    A bank that exists is not named anew: a person may have given it another name.

    Args:
        api: The bank's calls.
        bank_id: Its id, and its name when it is new.
        missions: Configuration key to text; nothing for a key leaves the server's own.
        logger: Told about missions that could not be set, which stops nothing.
        at_creation: Further configuration of a bank that is made now; an existing one keeps its.

    Raises:
        BankError: The bank could not be created.
    """
    overrides = await _overrides(api)
    made = overrides is None
    if overrides is None:
        await api.put_bank(bank_id)
        overrides = {}
    differing: dict[str, Any] = {
        key: text for key, text in missions.items() if overrides.get(key) != text
    }
    if made:
        differing |= at_creation or {}
    if differing:
        try:
            await api.patch_config(differing)
        except BankError as error:
            logger.warning("bank %s keeps its missions: %s", bank_id, error)


async def ensure_verbatim(api: Api) -> None:
    """Teach the bank the strategy for texts that must stay as they are.

    Raises:
        BankError: It cannot be taught: our facts would be stored in words that are not ours.
    """
    config = await api.config()
    overrides = config.get("overrides")
    known = overrides.get("retain_strategies") if isinstance(overrides, dict) else None
    strategies: dict[str, Any] = dict(known) if isinstance(known, dict) else {}
    if strategies.get(VERBATIM) != _STRATEGY:
        await api.patch_config({"retain_strategies": {**strategies, VERBATIM: _STRATEGY}})


async def _overrides(api: Api) -> Mapping[str, Any] | None:
    """What the bank has set; None when there is no bank, or nothing tells whether there is."""
    try:
        config = await api.config()
    except ServerError as error:
        if error.status in (404, 405):
            return None
        raise
    found = config.get("overrides")
    return found if isinstance(found, dict) else None
