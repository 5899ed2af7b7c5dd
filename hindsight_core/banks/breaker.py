"""Leaves a bank that fails alone for a while, so that a call to it costs nothing meanwhile."""

from __future__ import annotations

from datetime import datetime, timedelta

from hindsight_core.errors import BankError
from hindsight_core.services import Clock

FAILURES = 3
PAUSE_S = 30.0
MAX_PAUSE_S = 300.0


class BankBreaker:
    """Opens after failures in a row, and lets one call through when its pause is over.

    A failure is kept for seconds and never stands for a result (br/BR-53). Nobody is started or
    stopped because of it: what is slow is not dead (br/BR-56).

    Args:
        name: What it guards, for messages.
        clock: Aware UTC now.
    """

    def __init__(self, name: str, *, clock: Clock) -> None:
        self._name = name
        self._clock = clock
        self._failed = 0
        self._until: datetime | None = None
        self._span = timedelta(0)
        self._probing = False
        self._asked = False
        self._reason = ""

    def check(self) -> None:
        """Let a call through, or not.

        Raises:
            BankError: Not now; retryable, with the seconds to wait when the bank asked for them.
        """
        if self._until is None:
            return
        now = self._clock()
        if now < self._until and self._until - now <= self._span:
            self._refuse((self._until - now).total_seconds())
        if self._probing:
            self._refuse(0.0)
        self._probing = True

    def success(self) -> None:
        """A call went well: closed."""
        self._failed, self._until, self._probing, self._asked = 0, None, False, False

    def failure(self, reason: str) -> None:
        """A call failed; the third in a row, or a failed probe, opens it."""
        self._failed += 1
        self._reason = reason
        if self._failed >= FAILURES or self._probing:
            self._asked = False
            self._open(PAUSE_S)
        self._probing = False

    def pause(self, seconds: float, reason: str) -> None:
        """Open at once, since the other side asks for it; bounded (br/BR-58)."""
        self._reason, self._probing, self._asked = reason, False, True
        self._open(min(max(seconds, 0.0), MAX_PAUSE_S))

    def abandon(self) -> None:
        """A call was cancelled or was its caller's own fault: neither good nor bad."""
        self._probing = False

    def _open(self, seconds: float) -> None:
        self._span = timedelta(seconds=seconds)
        self._until = self._clock() + self._span

    def _refuse(self, wait: float) -> None:
        # A pause of our own making is no demand of the bank: a queue has its own patience.
        raise BankError(
            f"{self._name} is left alone for another {wait:.0f} s: {self._reason}",
            retry_after=wait if self._asked else None,
        )
