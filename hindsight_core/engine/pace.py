"""When a session is memorized while it goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hindsight_core.config.settings import Settings


class Pace:
    """Counts turns.

    Args:
        settings: ``memorize``, and whether messages or runs are looked at one by one.
    """

    def __init__(self, settings: Settings) -> None:
        self._every = settings.memorize.every_turns
        mode = settings.memorize.mode
        looks = settings.capture.enabled or settings.investigation.enabled
        # These count what they have not dealt with, also that of an earlier process.
        self._each = ("candidates" in mode and looks) or bool(self._every and "transcript" in mode)
        self._turns = 0

    def turn(self) -> str | None:
        """A turn has ended: the reason to memorize now, or None."""
        self._turns += 1
        if self._every and self._turns % self._every == 0:
            return "turns"
        return "idle" if self._each else None
