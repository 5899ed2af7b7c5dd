"""A clock that stands still until a test moves it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class FakeClock:
    """Callable as `hindsight_core.services.Clock`; `sleep` moves it instead of waiting.

    Attributes:
        now: The current moment, aware UTC.
        slept: Seconds of each `sleep`.
    """

    def __init__(self, now: datetime = datetime(2025, 1, 15, 12, 0, tzinfo=UTC)) -> None:
        self.now = now
        self.slept: list[float] = []

    def __call__(self) -> datetime:
        """The current moment."""
        return self.now

    def advance(self, seconds: float = 0, *, days: float = 0) -> None:
        """Move it."""
        self.now += timedelta(seconds=seconds, days=days)

    async def sleep(self, seconds: float) -> None:
        """Pretend to wait."""
        self.slept.append(seconds)
        self.advance(seconds)
