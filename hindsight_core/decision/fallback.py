"""Where a round goes when nobody answers (s1/S-DEC-6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from hindsight_core.config.settings.bank import BankEntry
    from hindsight_core.config.settings.decision import Decision
    from hindsight_core.decision.ladder import Attempt

Reason = Literal["disabled", "no-model", "backends-failed", "no-candidates"]


def fallback_banks(
    settings: Decision, entries: Sequence[BankEntry], *, writing: bool
) -> tuple[str, ...]:
    """The configured banks that are still there and may be used that way; none without a list.

    Args:
        settings: The lists.
        entries: Banks that may be read, or that may be written, now.
        writing: Which list.
    """
    own = settings.fallback_retain_banks if writing else settings.fallback_recall_banks
    wanted = own or settings.fallback_banks
    usable = {entry.id for entry in entries}
    return tuple(bank for bank in dict.fromkeys(wanted) if bank in usable)


def why(attempts: Sequence[Attempt]) -> Reason:
    """Whether anybody could have answered."""
    could = any(attempt.failure != "not-set-up" for attempt in attempts)
    return "backends-failed" if could else "no-model"
