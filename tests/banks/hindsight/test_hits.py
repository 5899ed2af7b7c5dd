"""What a server returns becomes facts, whatever shape it has."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_core.banks.hindsight.hits import RECORD, fact_of, found_in, record_of
from hindsight_core.banks.hindsight.states import read_state, state_changes
from hindsight_core.memory import Fact, Provenance

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@pytest.mark.spec("pi/H-20")
@pytest.mark.parametrize(
    ("answer", "texts"),
    [
        ("a bare text", ["a bare text"]),
        ({"memories": [{"content": "m"}], "results": [{"text": "r"}]}, ["m"]),
        ({"results": [{"text": "r1"}, {"memory": "r2"}, "r3"], "items": []}, ["r1", "r2", "r3"]),
        ({"items": [{"content": "c", "text": "t", "memory": "m"}]}, ["c"]),
        ({"hits": [{"text": ""}, {"text": "  "}, {}, None, 7, {"text": "h"}]}, ["h"]),
        ({"text": "composed"}, ["composed"]),
        ({"answer": "composed"}, ["composed"]),
        ({"results": "no list"}, []),
        (None, []),
        ({}, []),
    ],
)
def test_hits_are_found_in_every_known_shape(answer, texts):
    assert [found.text for found in found_in(answer)] == texts


@pytest.mark.spec("pi/H-20")
def test_id_and_type_are_kept_where_they_are_texts():
    named, other, odd = found_in(
        {"results": [
            {"text": "a", "id": "1", "type": "world", "fact_type": "experience"},
            {"text": "b", "id": "", "fact_type": "experience"},
            {"text": "c", "id": 3, "type": ["x"]},
        ]}
    )  # fmt: skip
    assert (named.id, named.type) == ("1", "world")
    assert (other.id, other.type) == (None, "experience")
    assert (odd.id, odd.type) == (None, None)


@given(JSON)
def test_no_answer_breaks_the_reader(answer):
    for found in found_in(answer):
        assert found.text.strip()
        assert fact_of(found).text == found.text


@pytest.mark.spec("pi/H-21", "pi/H-22")
def test_a_recalled_fact_has_no_state_and_is_valid():
    [found] = found_in([{
        "id": "8675f2bb", "text": "Tests use pytest", "type": "observation", "document_id": None,
        "mentioned_at": "2026-01-15T10:00:00+00:00", "metadata": {}, "tags": ["shop", "decision"],
    }])  # fmt: skip
    fact = fact_of(found)
    assert (fact.kind, fact.state, fact.id) == ("observation", "valid", "8675f2bb")
    assert fact.timestamp == datetime(2026, 1, 15, 10, tzinfo=UTC)


def test_the_kind_of_a_note_is_read_from_its_tags():
    [found] = found_in([{"text": "Never rebase main", "type": "world", "tags": ["constraint"]}])
    assert fact_of(found).kind == "constraint"


def test_a_fact_of_ours_comes_back_whole():
    fact = Fact(
        id="f1",
        text="Port 7 is open",
        kind="pitfall",
        category="goal",
        document_id="d1",
        timestamp=datetime(2030, 3, 4, 9, 30, 15, 123456, tzinfo=UTC),
        tags=("z", "a"),
        metadata={"file": "a.py"},
        provenance=Provenance("note", "s1", ("e1",), "pi", "user", "words"),
    )
    raw = {
        "id": "974ac603",
        "text": fact.text,
        "document_id": "fact:f1",
        "tags": ["a", "z"],
        "metadata": {"file": "a.py", RECORD: record_of(fact)},
    }
    assert fact_of(found_in([raw])[0]) == fact


def test_a_damaged_record_is_only_metadata():
    [found] = found_in([{"id": "s1", "text": "x", "metadata": {RECORD: "{broken", "k": 1}}])
    assert fact_of(found).id == "s1"
    assert fact_of(found).metadata == {"k": "1"}


@pytest.mark.parametrize(
    ("state", "reason", "by"),
    [
        ("valid", None, None),
        ("invalidated", "wrong number", None),
        ("invalidated", None, None),
        ("superseded", None, "f9"),
        ("pending", None, None),
        ("pending", "asked first", None),
    ],
)
def test_four_states_fit_into_two(state, reason, by):
    sent = state_changes(state, reason=reason, superseded_by=by)
    assert sent["state"] in ("valid", "invalidated")
    told = {"state": sent["state"], "invalidation_reason": sent.get("reason")}
    assert read_state(told) == (state, reason, by)
