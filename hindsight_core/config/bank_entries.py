"""The banks of one session with their roles: the project's own, listed ones, the personal one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from hindsight_core.config.settings.bank import BankEntry

if TYPE_CHECKING:
    from hindsight_core.config.settings import Settings

PERSONAL = "life"


def bank_entries(settings: Settings, bank_id: str) -> tuple[BankEntry, ...]:
    """Enabled banks in the order of their weight, the project's first (s1/S-CFG-3).

    What `bank.entries` says of a bank counts; a bank that is not listed there is the project's
    with the role ``coding``, or the personal one, which is written only when it is asked for, and
    read in every turn only with `recall.user_bank`.

    Args:
        settings: The sections `bank` and `recall`.
        bank_id: The project's bank.
    """
    bank = settings.bank
    listed = {entry.id: entry for entry in reversed(bank.entries)}
    own = listed.pop(bank_id, None) or BankEntry(id=bank_id)
    found = [own, *(entry for entry in bank.entries if listed.get(entry.id) is entry)]
    personal = bank.user_id
    if personal and all(entry.id != personal for entry in found):
        access: Literal["both", "write"] = "both" if settings.recall.user_bank else "write"
        found.append(
            BankEntry(id=personal, role=PERSONAL, access=access, retain_mode="explicit-only")
        )
    return tuple(entry for entry in found if entry.enabled)
