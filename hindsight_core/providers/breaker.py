"""A circuit breaker: one outside thing that fails is left alone for a while."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Literal, TypeVar

from hindsight_core.errors import BreakerOpen
from hindsight_core.services import Clock

T = TypeVar("T")

MAX_PAUSE_S = 300.0


class Breaker:
    """Opens after some failures in a row, lets one call through after a pause (config.md).

    An open breaker answers at once, without touching the network. Failures are kept for seconds
    and never stand for a result (br/BR-53); what is slow is left alone, never stopped (br/BR-56).

    Args:
        name: What it guards, for messages: ``model anthropic/claude`` or ``bank shop``.
        clock: Aware UTC now.
        failures: Failures in a row that open it.
        open_s: Seconds until one call may try again.
    """

    def __init__(self, name: str, *, clock: Clock, failures: int = 3, open_s: float = 30.0) -> None:
        self.name = name
        self.last_reason: str | None = None
        self._clock = clock
        self._limit = failures
        self._open_s = open_s
        self._failed = 0
        self._opened: datetime | None = None
        self._span = timedelta(seconds=open_s)
        self._probing = False

    @property
    def state(self) -> Literal["closed", "open", "half-open"]:
        """``half-open`` means that one call is let through, or is on its way."""
        if self._opened is None:
            return "closed"
        return "open" if self.wait_s() > 0 else "half-open"

    def wait_s(self) -> float:
        """Seconds until a call is let through; 0 when it is now."""
        if self._opened is None:
            return 0.0
        passed = self._clock() - self._opened
        if passed < timedelta(0):
            # The machine's clock went back: waiting for it could take hours.
            return 0.0
        return max(0.0, (self._span - passed).total_seconds())

    def check(self) -> None:
        """Let a call through, or not.

        Raises:
            BreakerOpen: Not now; ``retry_after`` says when.
        """
        if self._opened is None:
            return
        wait = self.wait_s()
        if wait > 0:
            raise BreakerOpen(
                f"{self.name} is not called for another {wait:.0f} s, because it "
                f"{self._why()}: {self.last_reason}",
                retry_after=wait,
            )
        if self._probing:
            raise BreakerOpen(
                f"{self.name} is being tried by another call, because it {self._why()}: "
                f"{self.last_reason}"
            )
        self._probing = True

    def success(self) -> None:
        """A call went well: closed."""
        self._failed = 0
        self._opened = None
        self._probing = False
        self.last_reason = None

    def failure(self, reason: str) -> None:
        """A call failed; the last allowed one, or a failed probe, opens it."""
        self._failed += 1
        self.last_reason = reason
        if self._failed >= self._limit or self._probing:
            self._open(self._open_s)
        self._probing = False

    def pause(self, seconds: float, reason: str) -> None:
        """Open at once, because the other side asked for a pause (429, Retry-After).

        Bounded, so that an absurd date cannot switch memory off for the life of the process.
        """
        if seconds > self.wait_s():
            self.last_reason = reason
            self._probing = False
            self._open(min(seconds, MAX_PAUSE_S))

    def abandon(self) -> None:
        """A call was cancelled: neither good nor bad."""
        self._probing = False

    async def call(self, work: Callable[[], Awaitable[T]]) -> T:
        """Run a call under this breaker.

        Raises:
            BreakerOpen: Not called.
        """
        self.check()
        try:
            result = await work()
        except BreakerOpen:
            self.abandon()
            raise
        except Exception as error:
            self.failure(str(error) or type(error).__name__)
            raise
        except BaseException:
            self.abandon()
            raise
        self.success()
        return result

    def _open(self, seconds: float) -> None:
        self._opened = self._clock()
        self._span = timedelta(seconds=seconds)

    def _why(self) -> str:
        return f"failed {self._failed} times in a row" if self._failed > 1 else "asked for a pause"
