"""When a plugin that failed repeatedly is left alone for a while."""

from __future__ import annotations

from collections.abc import Callable

FAILURES = 3
PAUSE_SECONDS = 30.0


class PluginBreaker:
    """Opens after three failures of a plugin and lets one call through every 30 seconds.

    A success clears the failures of its own hook only: a plugin whose observer works does not get
    new time to hang in its planner.

    Args:
        monotonic: Seconds that only grow; a fake one in tests.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._failures: dict[str, int] = {}
        self._retry_at: float | None = None

    @property
    def open(self) -> bool:
        """Whether the plugin is paused."""
        return self._retry_at is not None

    def allows(self) -> bool:
        """Whether it may be called now; a trial call claims the turn of the next 30 seconds."""
        if self._retry_at is None:
            return True
        now = self._monotonic()
        if now < self._retry_at:
            return False
        self._retry_at = now + PAUSE_SECONDS
        return True

    def failed(self, hook: str) -> None:
        """Count a failure."""
        self._failures[hook] = self._failures.get(hook, 0) + 1
        if sum(self._failures.values()) >= FAILURES:
            self._retry_at = self._monotonic() + PAUSE_SECONDS

    def succeeded(self, hook: str) -> bool:
        """Count a success; True when that ended a pause."""
        self._failures.pop(hook, None)
        recovered = self._retry_at is not None
        if recovered:
            self._failures.clear()
            self._retry_at = None
        return recovered
