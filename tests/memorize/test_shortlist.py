"""The shortlist leaves out nothing that comparing every pair would find, and most of the rest."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hindsight_core.memorize.resolve import compare
from hindsight_core.memorize.rules import user_facts
from hindsight_core.memorize.shortlist import Shortlist
from hindsight_core.memorize.similar import relation
from hindsight_core.memory import Fact
from hindsight_core.testing.transcripts import TranscriptBuilder

WORDS = (
    "the", "port", "of", "kafka", "redis", "is", "=", "7443", "8080", "on", "off", "not", "now",
    "instead of", "no longer", "because", "cache", "ms", "three", "use", "30", "tests", "->",
    "unless", "and", "to", "never",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=7).map(" ".join)


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(new=TEXTS, old=st.lists(TEXTS, max_size=12))
def test_every_related_statement_is_on_the_list(new: str, old: list[str]) -> None:
    found = Shortlist(old).related(new)
    related = [n for n, text in enumerate(old) if relation(new, text) != "different"]
    assert set(related) <= set(found)


def test_a_removed_or_replaced_statement_is_not_found() -> None:
    texts = Shortlist(["kafka listens on 9092", "redis listens on 6379"])
    assert texts.related("kafka listens on 9093") == [0]
    texts.add(0, "grafana listens on 3000")
    assert texts.related("kafka listens on 9093") == []
    texts.remove(1)
    assert texts.related("redis listens on 6380") == [] and texts.naming(frozenset()) == []


@pytest.mark.spec("br/BR-73")
def test_many_statements_are_not_compared_pair_by_pair() -> None:
    texts = [f"The host{n} service listens on port {n + 1000}" for n in range(300)]
    list_of_all = Shortlist(texts)
    assert sum(len(list_of_all.related(text)) for text in texts) <= 2 * len(texts)


def test_the_last_value_of_many_wins_and_the_rest_is_kept() -> None:
    texts = [f"The host{n % 40} service listens on port {n + 1000}" for n in range(200)]
    talk = TranscriptBuilder()
    for text in texts:
        talk.user(f"remember: {text}")
    facts = user_facts(talk.window(), limit=900)
    kept = [item.fact.text for item in compare(facts, {}) if item.action == "add"]
    assert kept == texts[-40:]


def test_what_was_said_first_of_much_is_still_revised() -> None:
    talk = TranscriptBuilder()
    talk.user("Decision: we use Celery for background jobs.")
    for n in range(60):
        talk.user(f"remember that host{n} listens on port {n + 1000}")
    talk.user("Decision: we use Dramatiq instead of Celery for background jobs.")
    texts = [fact.text for fact in user_facts(talk.window(), limit=900)]
    assert len(texts) == 61 and "Dramatiq" in texts[-1]


def test_a_statement_of_no_words_is_said_twice_by_its_id() -> None:
    facts = [Fact(id="f", text="is"), Fact(id="f", text="is")]
    assert [item.action for item in compare(facts, {})] == ["add", "skip"]
