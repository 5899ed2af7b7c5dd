"""Without a model: statements that need the talk around them, or are taken back in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_core.memorize.rules import user_facts
from hindsight_core.testing.transcripts import TranscriptBuilder


def said(*messages: str) -> list[str]:
    talk = TranscriptBuilder()
    for message in messages:
        if message.startswith("A:"):
            talk.assistant(message[2:].strip())
        else:
            talk.user(message)
    return [fact.text for fact in user_facts(talk.window(), limit=1200)]


@pytest.mark.parametrize(
    ("messages", "left"),
    [
        (["the port is 8080", "the port is 9090"], ["The port is 9090"]),
        (["the prefetch is 20", "prefetch is now 50"], ["Prefetch is now 50"]),
        (
            ["We use RabbitMQ for events", "I was wrong, we use Kafka for events, not RabbitMQ"],
            ["We use Kafka for events, not RabbitMQ"],
        ),
        (["From now on name branches feat/x", "scratch that"], []),
        (["Wir nehmen Postgres.", "Doch nicht, wir nehmen MySQL."], ["Wir nehmen MySQL"]),
        (["Мы используем Redis.", "я передумал"], []),
        (
            [
                "Partition it by day and key it by port_id",
                "drop the day partitioning, do it by week",
            ],
            [
                "User decision: key it by port_id",
                "User decision: drop the day partitioning, do it by week",
            ],
        ),
        (
            ["The staging port is 8080. The production port is 9090."],
            ["The staging port is 8080", "The production port is 9090"],
        ),
    ],
)
def test_a_decision_reversed_later_in_the_session_is_gone(messages, left):
    assert said(*messages) == left


def test_a_guess_of_the_assistant_that_the_user_corrects_leaves_the_correction():
    found = said(
        "The engine crashes at start.",
        "A: This is a data race between the workers; I add a mutex.",
        "no, stop. It's no race, we build the path with to_string_lossy(), so it is wrong for "
        "Chinese names. Take the lock out again.",
    )
    assert len(found) == 1
    assert found[0].startswith("It's no race, we build the path with to_string_lossy()")
    assert "lock" not in found[0]


def test_an_answer_takes_the_question_along():
    question = "A: Fixed. Accept both v2 and v3 during the transition?"
    assert said("adapt the handler", question, "Yes, both until 30 September") == [
        "Both until 30 September (asked: Accept both v2 and v3 during the transition?)"
    ]
    assert said("adapt it", "A: Shall I open the PR?", "yes please open it") == []


def test_a_choice_between_what_was_offered_is_a_decision():
    assert said("add a cache", "A: Redis or disk?", "Redis, we have it already") == [
        "Redis, we have it already"
    ]
    assert said("run the tests", "A: Now or later?", "later") == []


def test_a_pronoun_is_told_by_its_name():
    assert said("We need gold.dwell_times. Key it by (port_id, mmsi).") == [
        "gold.dwell_times: Key it by (port_id, mmsi)"
    ]
    assert said(
        "look at it", "A: The module has a flag `s3_gateway`.", "it is off because of ECR"
    ) == ["s3_gateway: It is off because of ECR"]


def test_a_reason_stays_with_its_statement():
    assert said("Do it by week, not by day. Trino scans it by week anyway.") == []
    (fact,) = said("Partition by week, not by day. Trino scans it by week for the reports.")
    assert fact.endswith("not by day. Trino scans it by week for the reports")


def test_an_order_beside_a_practice_is_left_out():
    assert said("drop python 3.8 support, we only support 3.10 from this release on") == [
        "We only support 3.10 from this release on"
    ]
    assert said("Both are accepted until June, then v2 gets deleted; put a failing test in") == [
        "Both are accepted until June, then v2 gets deleted"
    ]


@given(st.lists(st.text(max_size=300), max_size=4))
def test_any_message_can_be_read(messages):
    first, second = said(*messages), said(*messages)
    assert first == second
    assert all("\n" not in text for text in first)


@pytest.mark.parametrize("piece", ["<a>", "always ", "- a\n", '"a ', "no, ", "不要", "we use it, "])
def test_a_giant_message_is_bounded(piece):
    assert len(said(piece * (60_000 // len(piece)))) <= 200
