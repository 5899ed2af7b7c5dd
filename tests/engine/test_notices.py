"""Each cause of trouble is told once, and once more when it is over."""

from __future__ import annotations

import pytest

from hindsight_core.engine.notices import Notices


def test_a_cause_is_told_once_and_its_end_once() -> None:
    told: list[tuple[str, str]] = []
    notices = Notices(lambda level, text: told.append((level, text)))

    notices.over("bank", "The bank is back.")
    for _ in range(3):
        notices.trouble("bank", "The bank is away.")
    notices.trouble("model", "No model.")
    notices.over("bank", "The bank is back.")
    notices.trouble("bank", "The bank is away.")
    notices.over("bank", "The bank is back.")

    assert told == [
        ("warning", "The bank is away."),
        ("warning", "No model."),
        ("info", "The bank is back."),
    ]


def test_the_last_error_goes_when_all_is_well() -> None:
    notices = Notices(lambda level, text: None)

    notices.trouble("bank", "away")
    notices.trouble("model", "out")
    notices.over("bank", "back")
    between = notices.last_error
    notices.over("model", "back")

    assert between == "out"
    assert notices.last_error is None


@pytest.mark.spec("br/BR-01")
def test_a_bank_that_is_away_is_one_warning_whoever_notices() -> None:
    told: list[tuple[str, str]] = []
    notices = Notices(lambda level, text: told.append((level, text)))

    notices.bank_away("recall", "no answer")
    notices.bank_away("bank", "no answer")
    notices.over("recall", "Recall works again.")
    notices.over("bank", "The bank is back.")

    assert [level for level, _ in told] == ["warning", "info", "info"]
    assert told[0][1].endswith("writes are kept: no answer")
