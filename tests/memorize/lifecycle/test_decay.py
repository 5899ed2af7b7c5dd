from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from hindsight_core.config.settings.capture import Lifecycle
from hindsight_core.memorize.lifecycle import decay
from hindsight_core.memorize.lifecycle.decay import Moment
from hindsight_core.state.life import LifeRecord, Told

RULES = Lifecycle(enabled=True)
BORN = Moment(datetime(2026, 1, 1, 23, 0, tzinfo=UTC), "s1", 1)


def record(**changes: object) -> LifeRecord:
    return replace(decay.begun(LifeRecord(Told("user")), RULES, BORN), **changes)


def later(days: int = 0, **changes: object) -> Moment:
    return replace(Moment(BORN.at + timedelta(days=days)), **changes)


@pytest.mark.spec("am/A-LIFE-1")
def test_days_are_utc_days_and_five_of_them_retire_a_new_memory():
    swept = Moment(datetime(2026, 1, 6, 0, 1, tzinfo=UTC))
    after = decay.advanced(record(), RULES, swept)
    assert after.confidence == pytest.approx(0.5 * 0.72**5)
    assert (after.decayed_on, after.updated_at) == (date(2026, 1, 6), swept.at)
    assert (after.expired_at, after.expired_by) == (swept.at, "low_confidence")


@pytest.mark.spec("am/A-LIFE-1", "am/A-LIFE-3")
def test_a_day_counts_once():
    first = decay.advanced(record(), RULES, later(1))
    assert first.confidence == 0.5 * 0.72
    assert decay.advanced(first, RULES, later(1, at=later(1).at + timedelta(minutes=30))) is first


@pytest.mark.spec("am/A-LIFE-1")
def test_the_rate_is_bounded_and_a_clock_that_goes_back_changes_nothing():
    rules = Lifecycle(enabled=True, maximum_decay_rate=0.3, initial_decay_rate=0.28)
    assert decay.advanced(record(decay_rate=0.9), rules, later(1)).confidence == 0.5 * 0.7
    assert decay.advanced(record(), RULES, later(-3)) == record()


@pytest.mark.spec("am/A-LIFE-1")
def test_exactly_the_threshold_survives():
    at = decay.advanced(record(confidence=0.1, decay_rate=0.0), RULES, later(9))
    under = decay.advanced(record(confidence=0.0999, decay_rate=0.0), RULES, later(9))
    assert (at.expired_at, under.expired_by) == (None, "low_confidence")


@pytest.mark.spec("am/A-LIFE-2")
def test_a_record_without_a_clock_gets_one_and_loses_nothing():
    after = decay.advanced(record(confidence=0.01, decayed_on=None), RULES, later(400))
    assert (after.confidence, after.decayed_on, after.cause) == (0.01, later(400).day, "grace")
    assert after.expired_at is None


@pytest.mark.spec("am/A-LIFE-3")
@pytest.mark.parametrize("gone", [{"expired_at": BORN.at}, {"succeeded_by": "other"}])
def test_what_is_not_active_does_not_decay(gone):
    before = record(**gone)
    assert decay.advanced(before, RULES, later(50)) is before


@pytest.mark.spec("am/A-LIFE-4")
def test_reinforcing_sets_the_clock_and_leaves_the_numbers():
    before = record(expired_at=BORN.at, expired_by="low_confidence", confidence=0.07)
    after = decay.reinforced(before, later(3, session_id="s2", number=4), cause="relevant_recall")
    assert (after.confidence, after.decay_rate) == (0.07, 0.28)
    assert (after.decayed_on, after.relevant_at) == (later(3).day, later(3).at)
    assert (after.relevant_session, after.relevant_number) == ("s2", 4)
    assert (after.reinforced, after.cause) == (1, "relevant_recall")
    assert (after.expired_at, after.expired_by) == (None, None)


@pytest.mark.spec("am/A-LIFE-5")
def test_the_confidence_of_each_day():
    seen, now = [], record()
    for day in range(1, 6):
        now = decay.advanced(now, RULES, later(day))
        seen.append(round(now.confidence, 5))
    assert seen == [0.36, 0.2592, 0.18662, 0.13437, 0.09675]
    assert now.expired_by == "low_confidence"


@pytest.mark.spec("am/A-LIFE-5")
@pytest.mark.parametrize(
    ("confidence", "rate", "days"),
    [
        *[(0.5, r, d) for r, d in zip((0.28, 0.23, 0.18, 0.13, 0.08, 0.03), (5, 7, 9, 12, 20, 53),
                                      strict=True)],
        (0.95, 0.28, 7), (0.95, 0.23, 9), (0.95, 0.18, 12), (0.95, 0.03, 74),
    ],
)  # fmt: skip
def test_days_until_it_is_retired(confidence, rate, days):
    before = record(confidence=confidence, decay_rate=rate)
    assert decay.days_left(before, RULES) == days
    assert decay.advanced(before, RULES, later(days - 1)).expired_at is None
    assert decay.advanced(before, RULES, later(days)).expired_by == "low_confidence"


def test_what_does_not_decay_has_no_last_day():
    assert decay.days_left(record(decay_rate=0.0), RULES) is None
    assert decay.days_left(record(), Lifecycle(enabled=False)) is None


def test_a_pinned_fact_stays_at_its_floor():
    after = decay.advanced(record(confidence=0.9), RULES, later(1000), pinned=True)
    assert (after.confidence, after.expired_at) == (RULES.pinned_floor, None)


def test_it_may_expire_by_time_alone():
    rules = Lifecycle(enabled=True, initial_decay_rate=0, expire_after_days=30)
    still = record(decay_rate=0.0)
    assert decay.advanced(still, rules, later(29)).expired_at is None
    assert decay.advanced(still, rules, later(30)).expired_by == "elapsed_time"
    used = decay.reinforced(still, later(20), cause="useful_feedback")
    assert decay.advanced(used, rules, later(30)).expired_at is None


def test_it_may_expire_by_sessions_that_did_not_use_it():
    rules = Lifecycle(enabled=True, initial_decay_rate=0, expire_after_sessions=10)
    still = record(decay_rate=0.0)
    assert decay.advanced(still, rules, later(0, number=10)).expired_at is None
    assert decay.advanced(still, rules, later(0, number=11)).expired_by == "inactive_sessions"
    used = decay.reinforced(still, later(0, number=8), cause="relevant_recall")
    assert decay.advanced(used, rules, later(0, number=11)).expired_at is None


def test_a_restored_memory_lasts_as_long_as_a_new_one():
    gone = decay.advanced(record(), RULES, later(5))
    back = decay.restored(gone, RULES, later(6))
    assert (back.confidence, back.expired_at, back.cause) == (0.5, None, "restored")
    assert decay.advanced(back, RULES, later(10)).expired_at is None
    assert decay.restored(record(confidence=0.8), RULES, later(1)).confidence == 0.8
