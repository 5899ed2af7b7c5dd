"""Each cause of trouble is told once, and once more when it is over."""

from __future__ import annotations

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
