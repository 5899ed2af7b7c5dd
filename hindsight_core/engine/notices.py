"""Tells the user about trouble: each cause once a session, and once more when it is over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

Level = Literal["info", "warning", "error"]
AWAY = "The bank is away: until it is back nothing is recalled, and writes are kept"


class Notices:
    """Remembers what was told.

    Args:
        tell: Shows one notice to the user.
    """

    def __init__(self, tell: Callable[[Level, str], None]) -> None:
        self._tell = tell
        self._open: set[str] = set()
        self._told: set[str] = set()
        self.last_error: str | None = None

    def trouble(
        self, cause: str, text: str, *, level: Level = "warning", root: str | None = None
    ) -> None:
        """Report trouble; a cause that was told before is only noted.

        Causes with the same ``root`` are told as one, and each ends on its own.
        """
        self.last_error = text
        self._open.add(cause)
        told = root or cause
        if told not in self._told:
            self._told.add(told)
            self._tell(level, text)

    def say(self, text: str) -> None:
        """Tell something that is no trouble."""
        self._tell("info", text)

    def bank_away(self, cause: str, reason: str | None) -> None:
        """Report that the bank did not answer: one warning, whoever notices it (br/BR-01)."""
        self.trouble(cause, f"{AWAY}: {reason}", root="bank")

    def info(self, cause: str, text: str) -> None:
        """Tell something that is no trouble, once a session."""
        if cause not in self._told:
            self._told.add(cause)
            self._tell("info", text)

    def known(self, text: str) -> None:
        """A text that the user was shown already, among ``initialize``'s warnings."""
        self._told.add(text)

    def over(self, cause: str, text: str) -> None:
        """Report that a cause is over, once, and only if it was told."""
        if cause not in self._open:
            return
        self._open.discard(cause)
        if not self._open:
            self.last_error = None
        if f"{cause}/over" not in self._told:
            self._told.add(f"{cause}/over")
            self._tell("info", text)
