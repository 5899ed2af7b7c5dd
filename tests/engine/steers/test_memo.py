"""What is kept of a session's steers."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pytest

from hindsight_core.engine.steers.memo import MOST, Delivered, memo, read_memo

NOW = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
GOOD = {"token": "t", "ids": ["b:m"], "at": NOW.timestamp(), "turn": 3}


def test_it_reads_what_it_wrote():
    steers = (Delivered("t1", ("b:m", "b:n"), NOW, 2), Delivered("t2", ("b:o",), NOW, 5))
    assert read_memo(memo(7, steers), now=NOW) == (7, steers)


@pytest.mark.spec("am/A-SCHED-8")
@pytest.mark.parametrize(
    "change",
    [
        {"token": ""},
        {"token": 7},
        {"ids": []},
        {"ids": ["b:m", 3]},
        {"ids": "b:m"},
        {"at": -1},
        {"at": math.nan},
        {"at": math.inf},
        {"at": "yesterday"},
        {"at": True},
        {"at": 1e300},
        {"at": (NOW + timedelta(minutes=5, seconds=1)).timestamp()},
        {"turn": -1},
        {"turn": "3"},
    ],
    ids=repr,
)
def test_a_malformed_steer_is_passed_over(change):
    kept = {"turns": 4, "steers": [{**GOOD, **change}, GOOD]}
    turns, steers = read_memo(kept, now=NOW)
    assert (turns, [steer.token for steer in steers]) == (4, ["t"])


@pytest.mark.spec("am/A-SCHED-8")
@pytest.mark.parametrize("kept", [{}, {"steers": {}}, {"steers": [None, 3, []], "turns": "x"}])
def test_what_is_no_memo_restores_nothing(kept):
    assert read_memo(kept, now=NOW) == (0, ())


@pytest.mark.spec("am/A-SCHED-8")
def test_a_clock_that_is_a_little_behind_is_no_fault():
    kept = {"steers": [{**GOOD, "at": (NOW + timedelta(minutes=5)).timestamp()}]}
    assert len(read_memo(kept, now=NOW)[1]) == 1


def test_a_very_long_session_keeps_the_newest():
    steers = [Delivered(f"t{n}", ("b:m",), NOW, n) for n in range(MOST + 5)]
    assert [s["token"] for s in memo(1, steers)["steers"]] == [f"t{n}" for n in range(5, MOST + 5)]
