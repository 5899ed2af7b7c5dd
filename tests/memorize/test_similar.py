"""Two statements compared without a model: same, changed, different."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_core.memorize.similar import numbers, relation, replaced_words

QUEUE = "the queue prefetch is 20"


@pytest.mark.spec("br/BR-16")
@pytest.mark.parametrize(
    ("new", "old"),
    [
        (QUEUE, QUEUE),
        ("The queue prefetch is 20.", QUEUE),
        ("prefetch for the queue: twenty messages", QUEUE),
        ("CART_TTL is 2,000 ms", "CART_TTL is 2000 ms"),
        ("Deploys on Friday are not allowed", "deploys on friday are not allowed"),
        ("端口是8443", "端口为 8443"),
        ("Der Port ist zwanzig", "Der Port ist 20"),
    ],
)
def test_the_same_statement_in_other_words(new, old):
    assert relation(new, old) == "same"
    assert relation(old, new) == "same"


@pytest.mark.spec("br/BR-16")
@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("prefetch is now 50", QUEUE),
        ("the queue prefetch is 50", QUEUE),
        ("端口改为8443", "端口是8080"),
        ("deploys on Friday are not allowed", "deploys on Friday are allowed"),
        ("the flag dark-mode is disabled", "the flag dark-mode is enabled"),
        ("migrations run after the backup", "migrations run before the backup"),
        ("Use Postgres instead of Redis for the session cache", "The session cache is Redis"),
        ("The queue is now Kafka", "The queue is RabbitMQ"),
        (
            "The export peak must stay below 384 MB since workers were upgraded",
            "The export peak must stay below 256 MB because slow workers have 512",
        ),
    ],
)
def test_a_changed_value_of_the_same_subject(new, old):
    assert relation(new, old) == "changed"


@pytest.mark.spec("br/BR-16")
@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("the production port is 9090", "the staging port is 8080"),
        ("the port is 9090", "the staging port is 8080"),
        ("the billing queue prefetch is now 50", QUEUE),
        ("PAYMENT_TTL is 20", "CART_TTL is 30"),
        ("Node 20 needs the flag --x", "Node 18 needs the flag --x"),
        ("Use Postgres instead of Redis for the session cache", "Redis runs on port 6379"),
        ("The API is written in Go", "The API is fast"),
        ("Builds use cmake", "Builds use make"),
        ("retry_limit is now 5", "retry_limit is 3 and the timeout is 20"),
        ("prefetch is not 20", QUEUE),
    ],
)
def test_another_subject_is_neither_known_nor_superseded(new, old):
    assert relation(new, old) == "different"


def test_what_a_statement_says_it_replaces():
    assert replaced_words("use tmp_path instead of a shared folder for the output") == [
        frozenset({"shar", "folder"})
    ]
    assert replaced_words("the port is 80") == []


def test_every_number_counts_written_or_spelt():
    assert numbers("three tries within 1,500 ms at 15:00") == {"3", "1500", "15:00"}


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_can_be_compared(new, old):
    assert relation(new, old) in ("same", "changed", "different")


@given(st.text(max_size=80))
def test_a_text_never_changes_itself(text):
    assert relation(text, text) != "changed"
