from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindsight_core.banks.records import exported, listed, read_record
from hindsight_core.identity import fact_id
from hindsight_core.memory import Fact, Provenance

WORDS = st.text(st.characters(blacklist_categories=("Cs",)), min_size=1, max_size=20)
TEXTS = WORDS.filter(str.strip)
TIMES = st.integers(-(10**15), 10**16).map(
    lambda micros: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros)
)
FACTS = st.builds(
    Fact,
    id=WORDS,
    text=TEXTS,
    kind=WORDS,
    category=st.none() | WORDS,
    state=st.sampled_from(["valid", "superseded", "invalidated", "pending"]),
    document_id=st.none() | WORDS,
    timestamp=st.none() | TIMES,
    created_at=st.none() | TIMES,
    tags=st.lists(WORDS, unique=True, max_size=3).map(tuple),
    metadata=st.dictionaries(WORDS, st.text("ab"), max_size=2),
    provenance=st.builds(Provenance, source=WORDS, session_id=st.none() | WORDS),
    superseded_by=st.none() | WORDS,
    reason=st.none() | WORDS,
    pinned=st.booleans(),
)


@settings(deadline=None)
@given(FACTS)
def test_a_line_brings_back_the_whole_fact(fact):
    line = json.dumps(exported(fact), ensure_ascii=False)
    again = read_record(json.loads(line))
    assert (again.id, again.text, again.kind, again.state) == (
        fact.id, fact.text, fact.kind, fact.state,
    )  # fmt: skip
    assert (again.timestamp, again.created_at) == (fact.timestamp, fact.created_at)
    assert (again.tags, dict(again.metadata)) == (fact.tags, dict(fact.metadata))
    assert (again.superseded_by, again.reason, again.pinned) == (
        fact.superseded_by, fact.reason, fact.pinned,
    )  # fmt: skip


def test_text_alone_is_enough():
    fact = read_record({"text": "Deploys are on Mondays"})
    assert (fact.id, fact.state, fact.kind) == (fact_id("Deploys are on Mondays"), "valid", "fact")
    assert fact.provenance.source == "import"


def test_a_line_with_a_successor_is_superseded():
    assert read_record({"text": "old", "superseded_by": "new"}).state == "superseded"


@pytest.mark.parametrize(
    ("given", "hour"),
    [("2026-01-02T10:00:00+02:00", 8), ("2026-01-02T10:00:00Z", 10), ("2026-01-02 10:00", 10)],
)
def test_times_become_utc(given, hour):
    assert read_record({"text": "x", "timestamp": given}).timestamp == datetime(
        2026, 1, 2, hour, tzinfo=UTC
    )


def test_unknown_texts_are_kept_as_metadata():
    fact = read_record({"text": "x", "author": "Kim", "score": 3, "metadata": {"n": 1}})
    assert fact.metadata == {"author": "Kim", "n": "1"}


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ([], "not a JSON object"),
        ({}, "no text"),
        ({"text": "  "}, "no text"),
        ({"text": 7}, "text is not a text"),
        ({"text": "x", "tags": "a"}, "tags is not a list"),
        ({"text": "x", "tags": 5}, "tags is not a list"),
        ({"text": "x", "timestamp": "yesterday"}, "no ISO 8601 time"),
        ({"text": "x", "state": "gone"}, "state 'gone'"),
        ({"text": "x", "metadata": []}, "metadata is not an object"),
        ({"text": "x", "metadata": "m"}, "metadata is not an object"),
        ({"text": "x", "provenance": "p"}, "provenance is not an object"),
    ],
)
def test_what_is_wrong_is_said(record, reason):
    with pytest.raises(ValueError, match=reason):
        read_record(record)


def test_listing_shows_the_id_with_its_bank():
    local = datetime(2026, 1, 2, 12, tzinfo=timezone(timedelta(hours=2)))
    row = listed(Fact("f1", "text", timestamp=local), bank="shop")
    assert list(row) == [
        "id", "text", "kind", "category", "state", "bank", "document", "timestamp", "tags",
        "metadata",
    ]  # fmt: skip
    assert (row["id"], row["timestamp"]) == ("shop:f1", "2026-01-02T10:00:00Z")
