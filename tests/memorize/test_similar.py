"""Two statements compared without a model: same, changed, different."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_core.memorize.similar import numbers, opening, relation, replaced_words, restates

QUEUE = "the queue prefetch is 20"
FRIDAY = "We never deploy on Fridays"


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


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Service b speaks on port 9001.", "Service a speaks on port 9000."),
        ("Cluster B uses 3 nodes.", "Cluster D uses 5 nodes."),
        ("Cluster A is in Berlin.", "Cluster D is in Berlin."),
        ("Worker 2 listens on port 9001.", "Worker 1 listens on port 9000."),
        ("Узел В слушает порт 9001", "Узел А слушает порт 9000"),
        ("The old plan was vitamin D for 3 weeks", "The old plan was vitamin B for 5 weeks"),
    ],
)
def test_a_letter_or_number_that_is_a_name_tells_two_things_apart(new, old):
    assert relation(new, old) == "different"
    assert relation(new, new) == "same"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Service a speaks on port 9001.", "Service A speaks on port 9000."),
        ("We use a cache of 5 MB.", "We use the cache of 10 MB."),
        ("The retry limit is 5 s.", "The retry limit is 10 s."),
    ],
)
def test_a_letter_that_is_no_name_does_not(new, old):
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


@pytest.mark.spec("br/BR-16")
@pytest.mark.parametrize(
    ("more", "old"),
    [
        (f"{FRIDAY} because support is away at weekends.", f"{FRIDAY}."),
        (f"We decided that {FRIDAY} because support is away", f"We decided that {FRIDAY}"),
        (f"{FRIDAY} because support is away at weekends", f"{FRIDAY} because support is away"),
        ("Use ruff because it is fast", "Use ruff"),
        ("The queue prefetch is 20 behind nginx", QUEUE),
        ("Retries are limited to 3", "Retries are limited"),
        ("We use Node 20", "We use Node"),
        ("Wir deployen nie am Freitag, weil niemand da ist", "Wir deployen nie am Freitag"),
        ("Мы не деплоим в пятницу, потому что поддержки нет", "Мы не деплоим в пятницу"),
        ("端口是8443，因为8080被占用", "端口是8443"),
    ],
)
def test_what_says_all_of_a_statement_and_more_extends_it(more, old):
    assert relation(more, old) == "extended"
    assert relation(old, more) == "same"
    assert restates(more, old)


@pytest.mark.parametrize("added", ["unless the on-call agrees", "only if support is there"])
def test_a_condition_extends_a_statement_and_is_not_known_without_it(added):
    assert relation(f"{FRIDAY} {added}", FRIDAY) == "extended"
    assert relation(FRIDAY, f"{FRIDAY} {added}") == "different"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("The port is 80 and the timeout is 20", "The port is 80"),
        ("The timeout is 5 to 10 minutes", "The timeout is 5"),
        ("The API is fast enough", "The API is fast"),
        ("Redis is used as a queue", "Redis is used as a cache"),
        ("We decided today that we use Kafka", "We decided today that we use Redis"),
    ],
)
def test_what_only_begins_alike_extends_nothing(new, old):
    assert relation(new, old) == "different"


def test_another_reason_is_kept_beside_the_first():
    one, other = f"{FRIDAY} because support is away", f"{FRIDAY} since rollbacks take hours"
    assert relation(one, other) == relation(other, one) == "different"
    assert restates(one, other)


def test_the_beginning_that_a_statement_may_extend():
    assert opening(f"{FRIDAY} unless support is there") == {"deploy", "friday"}
    assert opening(FRIDAY) == frozenset()


def test_what_a_statement_says_it_replaces():
    assert replaced_words("use tmp_path instead of a shared folder for the output") == [
        frozenset({"shar", "folder"})
    ]
    assert replaced_words("the port is 80") == []


def test_every_number_counts_written_or_spelt():
    assert numbers("three tries within 1,500 ms at 15:00") == {"3", "1500", "15:00"}


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_can_be_compared(new, old):
    assert relation(new, old) in ("same", "extended", "changed", "different")


@given(st.text(max_size=80))
def test_a_text_never_changes_itself(text):
    assert relation(text, text) in ("same", "different")
