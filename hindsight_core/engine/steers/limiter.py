"""How often the same memory may interrupt, and how far apart (am/A-SCHED-2 to A-SCHED-4)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hindsight_core.config.settings.capture import Steer


@dataclass(frozen=True, slots=True)
class Sent:
    """One memory's deliveries in this session."""

    count: int
    at: datetime
    turn: int


State = tuple[dict[str, Sent], datetime | None, str | None]


class Limiter:
    """Cooldowns of a session.

    Args:
        settings: ``steer``.
    """

    def __init__(self, settings: Steer) -> None:
        self._settings = settings
        self._sent: dict[str, Sent] = {}
        self._last: datetime | None = None
        self._fingerprint: str | None = None

    def cooling(self, now: datetime) -> bool:
        """Whether the last steer is too recent for another look."""
        apart = timedelta(milliseconds=self._settings.cooldown_ms)
        return self._last is not None and now - self._last < apart

    def suppressed(self, now: datetime, *, turn: int) -> frozenset[str]:
        """Ids that may not be sent now, for any one of the three reasons."""
        return frozenset(fact for fact, sent in self._sent.items() if self._held(sent, now, turn))

    def repeats(self, ids: Iterable[str], text: str) -> bool:
        """Whether a steer is the last one over again."""
        return _fingerprint(ids, text) == self._fingerprint

    def record(self, ids: Iterable[str], now: datetime, *, turn: int) -> None:
        """A steer was sent; an id that stands in it twice counts once."""
        for fact in dict.fromkeys(ids):
            before = self._sent.get(fact)
            self._sent[fact] = Sent((before.count if before else 0) + 1, now, turn)
        self._last = now if self._last is None else max(now, self._last)

    def remember(self, ids: Iterable[str], text: str) -> None:
        """What the last steer was."""
        self._fingerprint = _fingerprint(ids, text)

    @property
    def state(self) -> State:
        """What there is to go back to."""
        return dict(self._sent), self._last, self._fingerprint

    def restore(self, state: State) -> None:
        """Go back: a steer did not reach the model and does not count against its memories."""
        sent, self._last, self._fingerprint = state
        self._sent = dict(sent)

    def clear(self) -> None:
        """Another session begins."""
        self._sent.clear()
        self._last = self._fingerprint = None

    def _held(self, sent: Sent, now: datetime, turn: int) -> bool:
        settings = self._settings
        apart = timedelta(milliseconds=settings.per_memory_cooldown_ms)
        return (
            sent.count >= settings.max_steers_per_memory
            or now - sent.at < apart
            or turn - sent.turn < settings.per_memory_turn_cooldown
        )


def _fingerprint(ids: Iterable[str], text: str) -> str:
    return f"{','.join(sorted(set(ids)))}|{text.lower()}"
