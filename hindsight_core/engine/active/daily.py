"""One sweep a day (UTC), in sessions of any length (am/A-LIFE-6)."""

from __future__ import annotations

from datetime import UTC, date
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


class DailyGate:
    """Lets each later day through once.

    Args:
        start: When the session began; that day has been dealt with.
    """

    def __init__(self, start: datetime) -> None:
        self._claimed = _day(start)

    def claim(self, now: datetime) -> bool:
        """Whether a day has begun that nobody claimed; days that were missed are one claim."""
        if _day(now) <= self._claimed:
            return False
        self._before, self._claimed = self._claimed, _day(now)
        return True

    def failed(self) -> None:
        """The last claim came to nothing: the same day may be claimed again."""
        self._claimed = self._before


def _day(moment: datetime) -> date:
    return moment.astimezone(UTC).date()
