"""How often, how soon and how long: the numbers of the write queue."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hindsight_core.config.settings import Settings


@dataclass(frozen=True, slots=True)
class QueuePolicy:
    """Bounds of the write queue; all times in seconds.

    Attributes:
        max_attempts: Tries that count against a document before it is a dead letter.
        backoff: Wait after the first failure; doubles with each further one.
        max_backoff: Longest wait that we choose ourselves.
        max_retry_after: Longest wait that a bank may ask for (br/BR-58).
        lease: A claim without a heartbeat for this long is free again (br/BR-37).
        keep_days: Age at which receipts and windows that nothing needs are pruned.
    """

    max_attempts: int = 5
    backoff: float = 2.0
    max_backoff: float = 300.0
    max_retry_after: float = 3600.0
    lease: float = 30.0
    keep_days: int = 90

    @classmethod
    def of(cls, settings: Settings | None) -> QueuePolicy:
        """The policy that a configuration asks for."""
        if settings is None:
            return cls()
        return cls(
            max_attempts=settings.queue.max_attempts,
            backoff=settings.queue.backoff_ms / 1000,
            max_backoff=settings.queue.max_backoff_ms / 1000,
            lease=settings.queue.lease_ms / 1000,
        )

    @property
    def horizon(self) -> float:
        """No wait reaches further; one that seems to was set before the clock jumped back."""
        return max(self.max_backoff, self.max_retry_after)

    def wait(self, failures: int, *, retry_after: float | None = None) -> float:
        """Seconds to wait after the n-th failure in a row (n from 1).

        What the bank asks for is honoured up to a bound; otherwise the wait doubles, is bounded,
        and loses up to half at random so that many processes do not come back together.
        """
        if retry_after is not None:
            return min(max(retry_after, 0.0), self.max_retry_after)
        full = min(self.backoff * 2.0 ** min(max(failures, 1) - 1, 30), self.max_backoff)
        return full * (0.5 + random.random() / 2)  # noqa: S311 - jitter, not a secret
