from __future__ import annotations

from datetime import UTC, datetime

import pytest

from hindsight_core.engine.active.daily import DailyGate


def day(number: int, hour: int = 12) -> datetime:
    return datetime(2026, 1, number, hour, tzinfo=UTC)


@pytest.mark.spec("am/A-LIFE-6")
def test_each_later_day_is_claimed_once_and_missed_days_as_one():
    gate = DailyGate(day(1))
    assert [gate.claim(day(1, 23)), gate.claim(day(2)), gate.claim(day(2, 23))] == [
        False,
        True,
        False,
    ]
    assert [gate.claim(day(4)), gate.claim(day(4))] == [True, False]


@pytest.mark.spec("am/A-LIFE-6")
def test_a_day_whose_sweep_failed_is_claimed_again():
    gate = DailyGate(day(1))
    assert gate.claim(day(2))
    gate.failed()
    assert gate.claim(day(2))
    assert not gate.claim(day(2))
