"""The banks of one session with their roles: the project's own, listed ones, the personal one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindsight_core.config.settings.bank import BankEntry

if TYPE_CHECKING:
    from hindsight_core.config.settings.bank import Bank

PERSONAL = "life"


def bank_entries(settings: Bank, bank_id: str) -> tuple[BankEntry, ...]:
    """Enabled banks in the order of their weight, the project's first (s1/S-CFG-3).

    What `bank.entries` says of a bank counts; a bank that is not listed there is the project's
    with the role ``coding``, or the personal one, which is written only when it is asked for.

    Args:
        settings: The section `bank`.
        bank_id: The project's bank.
    """
    listed = {entry.id: entry for entry in reversed(settings.entries)}
    own = listed.pop(bank_id, None) or BankEntry(id=bank_id)
    found = [own, *(entry for entry in settings.entries if listed.get(entry.id) is entry)]
    personal = settings.user_id
    if personal and all(entry.id != personal for entry in found):
        found.append(BankEntry(id=personal, role=PERSONAL, retain_mode="explicit-only"))
    return tuple(entry for entry in found if entry.enabled)
