"""Decay, reinforcement and expiry of one record (am/A-LIFE): pure functions of it and a clock."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date, datetime

    from hindsight_core.config.settings.capture import Lifecycle
    from hindsight_core.state.life import Cause, ExpiredBy, LifeRecord


@dataclass(frozen=True, slots=True)
class Moment:
    """When something happens to a record.

    Attributes:
        at: Now, aware UTC.
        session_id: In which session; None outside of one.
        number: That session's number in its bank; None where sessions are not counted.
    """

    at: datetime
    session_id: str | None = None
    number: int | None = None

    @property
    def day(self) -> date:
        """The day in UTC: decay counts these."""
        return self.at.astimezone(UTC).date()


def begun(record: LifeRecord, rules: Lifecycle, moment: Moment) -> LifeRecord:
    """A new record with its first confidence and, where decay is on, a running clock."""
    return replace(
        record,
        confidence=rules.initial_confidence,
        decay_rate=rules.initial_decay_rate,
        created_at=record.created_at or moment.at,
        updated_at=moment.at,
        decayed_on=moment.day if rules.enabled else None,
        relevant_at=moment.at,
        relevant_session=moment.session_id,
        relevant_number=moment.number,
        cause="created",
    )


def graced(record: LifeRecord, rules: Lifecycle, moment: Moment) -> LifeRecord:
    """A record whose clock did not run: it starts now, and nothing is lost (am/A-LIFE-2)."""
    return replace(
        record,
        decay_rate=clamp(record.decay_rate, rules.minimum_decay_rate, rules.maximum_decay_rate),
        updated_at=moment.at,
        decayed_on=moment.day,
        relevant_at=record.relevant_at or moment.at,
        relevant_number=record.relevant_number or moment.number,
        cause="grace",
    )


def advanced(
    record: LifeRecord, rules: Lifecycle, moment: Moment, *, pinned: bool = False
) -> LifeRecord:
    """Apply the days that have passed, and retire what has fallen too low (am/A-LIFE-1).

    A pinned fact keeps at least ``lifecycle.pinned_floor`` and is never retired.
    """
    if record.expired_at is not None or record.succeeded_by is not None:
        return record
    if record.decayed_on is None:
        return graced(record, rules, moment)
    days = max(0, (moment.day - record.decayed_on).days)
    rate = clamp(record.decay_rate, rules.minimum_decay_rate, rules.maximum_decay_rate)
    confidence = record.confidence * (1 - rate) ** days
    if pinned:
        confidence = max(confidence, rules.pinned_floor)
    after = record
    if days or confidence != record.confidence:
        after = replace(record, confidence=confidence, decayed_on=moment.day, updated_at=moment.at)
    why = None if pinned else expiry(after, rules, moment)
    return retired(after, moment, by=why) if why is not None else after


def expiry(record: LifeRecord, rules: Lifecycle, moment: Moment) -> ExpiredBy | None:
    """Why a record is over; None while it is not. Exactly the threshold is still enough."""
    if record.confidence < rules.deletion_threshold:
        return "low_confidence"
    seen = record.relevant_at
    if rules.expire_after_days and seen and (moment.at - seen).days >= rules.expire_after_days:
        return "elapsed_time"
    last, now = record.relevant_number, moment.number
    if rules.expire_after_sessions and last is not None and now is not None:
        if now - last >= rules.expire_after_sessions:
            return "inactive_sessions"
    return None


def retired(record: LifeRecord, moment: Moment, *, by: ExpiredBy) -> LifeRecord:
    """The record of a fact that is retired; it can be restored."""
    return replace(record, expired_at=moment.at, expired_by=by, updated_at=moment.at)


def reinforced(record: LifeRecord, moment: Moment, *, cause: Cause) -> LifeRecord:
    """It proved relevant: the clock is set back, the numbers stay (am/A-LIFE-4)."""
    return replace(
        record,
        decayed_on=moment.day,
        relevant_at=moment.at,
        relevant_session=moment.session_id or record.relevant_session,
        relevant_number=moment.number or record.relevant_number,
        reinforced=record.reinforced + 1,
        cause=cause,
        updated_at=moment.at,
        expired_at=None,
        expired_by=None,
    )


def restored(record: LifeRecord, rules: Lifecycle, moment: Moment) -> LifeRecord:
    """Brought back by a person: with a confidence that lasts as long as a new one's."""
    confidence = max(record.confidence, rules.initial_confidence)
    back = replace(record, confidence=confidence, succeeded_by=None)
    return reinforced(back, moment, cause="restored")


def days_left(record: LifeRecord, rules: Lifecycle) -> int | None:
    """Unused days from its last decay until it falls under the threshold; None for never."""
    rate = clamp(record.decay_rate, rules.minimum_decay_rate, rules.maximum_decay_rate)
    if not rules.enabled or rate <= 0 or rules.deletion_threshold <= 0:
        return None
    days, confidence = 0, record.confidence
    while confidence >= rules.deletion_threshold:
        days, confidence = days + 1, confidence * (1 - rate)
    return days


def clamp(value: float, low: float, high: float) -> float:
    """The value, not under the first and not over the second bound."""
    return max(low, min(high, value))
