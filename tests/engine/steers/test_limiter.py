"""How often the same memory may interrupt."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from hindsight_core.config.settings.capture import Steer
from hindsight_core.engine.steers.limiter import Limiter

START = datetime(2026, 1, 1, tzinfo=UTC)


def at(milliseconds: int) -> datetime:
    return START + timedelta(milliseconds=milliseconds)


@pytest.fixture
def limiter() -> Limiter:
    settings = {"per_memory_cooldown_ms": 1000, "per_memory_turn_cooldown": 3}
    made = Limiter(Steer.model_validate({**settings, "max_steers_per_memory": 2}))
    made.record(["b:m"], at(1000), turn=2)
    return made


@pytest.mark.spec("am/A-SCHED-3")
@pytest.mark.parametrize(
    ("now", "turn", "held"), [(1999, 20, True), (5000, 4, True), (5000, 5, False)]
)
def test_time_and_turns_must_both_have_passed(limiter, now, turn, held):
    assert ("b:m" in limiter.suppressed(at(now), turn=turn)) is held


@pytest.mark.spec("am/A-SCHED-3")
def test_after_the_second_time_it_is_held_for_good_until_the_session_is_another(limiter):
    limiter.record(["b:m"], at(5000), turn=5)
    assert limiter.suppressed(at(10**9), turn=10**6) == {"b:m"}
    limiter.clear()
    assert limiter.suppressed(at(5000), turn=5) == frozenset()


@pytest.mark.spec("am/A-SCHED-3")
def test_an_id_that_stands_twice_in_a_steer_counts_once(limiter):
    limiter.record(["b:n", "b:n"], at(1000), turn=2)
    assert "b:n" not in limiter.suppressed(at(5000), turn=9)


@pytest.mark.spec("am/A-SCHED-2")
def test_a_look_is_dropped_for_some_time_after_a_steer():
    limiter = Limiter(Steer())
    assert not limiter.cooling(START)
    limiter.record(["b:m"], START, turn=1)
    assert limiter.cooling(at(14_999))
    assert not limiter.cooling(at(15_000))


@pytest.mark.spec("am/A-SCHED-4")
def test_the_last_steer_is_not_sent_over_again(limiter):
    limiter.remember(["b:m", "b:a"], "One Text")
    assert limiter.repeats(["b:a", "b:m"], "one text")
    assert not limiter.repeats(["b:a"], "one text")
    assert not limiter.repeats(["b:a", "b:m"], "another")


def test_what_did_not_reach_the_model_does_not_count(limiter):
    before = limiter.state
    limiter.record(["b:m", "b:n"], at(5000), turn=5)
    limiter.restore(before)
    assert limiter.suppressed(at(5000), turn=5) == frozenset()
    assert not limiter.cooling(at(60_000))
