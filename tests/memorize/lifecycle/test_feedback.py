from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from hindsight_core.config.settings.capture import Lifecycle
from hindsight_core.memorize.lifecycle.decay import Moment, begun
from hindsight_core.memorize.lifecycle.feedback import answered
from hindsight_core.state.life import Answer, LifeRecord, Told

RULES = Lifecycle(enabled=True, history_limit=2)
NOW = Moment(datetime(2026, 1, 1, 12, 0, tzinfo=UTC), "s1", 1)


def record(**changes: object) -> LifeRecord:
    return replace(begun(LifeRecord(Told("user")), RULES, NOW), **changes)


def answer(outcome: str, token: str = "t") -> Answer:
    return Answer(outcome, "s1", token, "why", NOW.at)


@pytest.mark.spec("am/A-FB-2")
def test_useful_and_unhelpful_move_confidence_and_rate_within_their_bounds():
    up = answered(record(confidence=0.9), answer("useful", "one"), RULES, NOW)
    assert (up.confidence, up.decay_rate) == (0.95, pytest.approx(0.23))
    down = answered(up, answer("unhelpful", "two"), RULES, NOW)
    down = answered(down, answer("unhelpful", "three"), RULES, NOW)
    assert (down.confidence, down.decay_rate) == (pytest.approx(0.65), pytest.approx(0.23))
    assert (down.useful, down.unhelpful) == (1, 2)
    assert [item.token for item in down.answers] == ["two", "three"]
    assert answered(record(), answer("useful"), RULES, NOW).confidence == pytest.approx(0.6)
    assert answered(record(decay_rate=0.02), answer("useful"), RULES, NOW).decay_rate == 0


def test_no_answers_are_kept_with_a_limit_of_nothing():
    rules = Lifecycle(enabled=True, history_limit=0)
    assert answered(record(), answer("useful"), rules, NOW).answers == ()


@pytest.mark.spec("am/A-FB-3")
def test_useful_starts_the_clock_anew():
    later = Moment(NOW.at + timedelta(days=3), "s2", 2)
    after = answered(record(), answer("useful"), RULES, later)
    assert (after.confidence, after.decayed_on) == (pytest.approx(0.6), later.day)
    assert (after.cause, after.reinforced) == ("useful_feedback", 1)


@pytest.mark.spec("am/A-FB-3")
def test_unhelpful_lets_the_pending_days_count_and_may_retire_at_once():
    gone = answered(record(confidence=0.2), answer("unhelpful"), RULES, NOW)
    assert (round(gone.confidence, 9), gone.expired_by) == (0.05, "low_confidence")
    later = Moment(NOW.at + timedelta(days=1))
    assert answered(record(), answer("unhelpful"), RULES, later).confidence == pytest.approx(
        0.35 * 0.72
    )
    kept = answered(record(confidence=0.2), answer("unhelpful"), RULES, NOW, pinned=True)
    assert kept.expired_at is None
    graced = answered(record(confidence=0.2, decayed_on=None), answer("unhelpful"), RULES, NOW)
    assert (round(graced.confidence, 9), graced.expired_at) == (0.05, None)


def test_without_decay_answers_move_the_numbers_and_nothing_else():
    rules = Lifecycle(enabled=False)
    after = answered(record(confidence=0.2), answer("unhelpful"), rules, NOW)
    assert (round(after.confidence, 9), after.expired_at, after.reinforced) == (0.05, None, 0)
