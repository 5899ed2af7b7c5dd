"""Brings back all that one memorize run retired (pi/I-09)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hindsight_core.errors import BankError, ConfigError

if TYPE_CHECKING:
    from hindsight_core.runtime import Runtime
    from hindsight_core.telemetry import ActivityLog

TYPE = "invalidate"


@dataclass(frozen=True, slots=True)
class Restored:
    """What came back.

    Attributes:
        bank: The bank.
        restored: Ids of the facts that are valid again, in the order in which they were retired.
        total: How many the entry had retired.
        error: Why it stopped there; None when all came back.
    """

    bank: str
    restored: tuple[str, ...]
    total: int
    error: str | None = None

    @property
    def said(self) -> str:
        """In one line."""
        if self.error is None:
            return f"restored {self.total}"
        return f"restored {len(self.restored)}/{self.total} — {self.error}"


def entry_of(log: ActivityLog, entry_id: str) -> Mapping[str, Any]:
    """The newest entry of this id, or of one that begins so.

    Raises:
        ConfigError: There is none, or it says of nothing that was retired.
    """
    found = log.read(1, type=TYPE, where=lambda e: str(e.get("id", "")).startswith(entry_id))
    if not entry_id or not found:
        raise ConfigError(
            f"the log has no entry {entry_id!r} of retired facts; `log --type {TYPE}` lists them, "
            "and `facts list --state invalidated` the facts"
        )
    return found[0]


async def restore_all(runtime: Runtime, entry: Mapping[str, Any]) -> Restored:
    """Make the facts of an entry valid again, in order, up to the first that fails.

    What came back is an entry of its own; the old one is never changed. An entry of another type
    restores nothing.
    """
    kills = entry.get("kills") if entry.get("type") == TYPE else None
    ids = [str(kill["id"]) for kill in kills or () if isinstance(kill, dict) and "id" in kill]
    bank_id = str(entry.get("bank") or runtime.bank_id)
    restored, error = [], None
    for fact_id in ids:
        try:
            await runtime.open_bank(bank_id).set_state(fact_id, "valid")
        except BankError as failure:
            error = str(failure)
            break
        restored.append(fact_id)
    if restored:
        back = [kill for kill in kills or () if kill.get("id") in restored]
        runtime.log.write(
            "restore", bank=bank_id, entry_id=entry.get("id"), kills=back, reason=error
        )
    return Restored(bank_id, tuple(restored), len(ids), error)
