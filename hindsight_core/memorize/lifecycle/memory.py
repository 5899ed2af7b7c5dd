"""A fact with its record, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hindsight_core.memory import Fact
    from hindsight_core.state.life import LifeRecord

REASONS: Mapping[str, str] = {
    "low_confidence": "expired: its confidence fell under lifecycle.deletion_threshold",
    "elapsed_time": "expired: not used for lifecycle.expire_after_days",
    "inactive_sessions": "expired: not used for lifecycle.expire_after_sessions",
}
EXPIRED = "expired: "


def is_lapsed(fact: Fact) -> bool:
    """Whether it was retired although nobody called it wrong: it may be learnt again."""
    return fact.state == "invalidated" and (fact.reason or "").startswith(EXPIRED)


@dataclass(frozen=True, slots=True)
class Memory:
    """A fact and how it stands."""

    fact: Fact
    record: LifeRecord

    @property
    def is_active(self) -> bool:
        """Whether it may be recalled, answered about, or replaced."""
        return self.fact.state == "valid"


@dataclass(frozen=True, slots=True)
class Judged:
    """What an answer came to.

    Attributes:
        accepted: Whether it counted.
        reason: Why not: ``unknown_token``, ``not_in_steer``, ``duplicate``, ``session_limit`` or
            ``inactive``.
        memory: The memory afterwards, when it counted.
        retired: The answer retired it.
    """

    accepted: bool
    reason: str | None = None
    memory: Memory | None = None
    retired: bool = False


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep did: facts whose clock was started, facts that were retired."""

    initialized: int = 0
    expired: tuple[Memory, ...] = ()
