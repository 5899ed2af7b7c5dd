from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_core.memory import Document, Fact, Provenance
from hindsight_core.state.codec import content_hash, decode_document, encode_document
from hindsight_core.state.entries import decode_entry, encode_entry
from hindsight_core.transcript.entry import Entry, Image, Text, Thinking, ToolCall, ToolResult

# Every code point, lone surrogates and NUL included.
texts = st.text(st.characters(codec=None), max_size=20)
moments = st.none() | st.datetimes(timezones=st.just(UTC))
metadata = st.dictionaries(texts, texts, max_size=3)
tags = st.lists(texts, max_size=3).map(tuple)
facts = st.builds(
    Fact,
    id=texts,
    text=texts,
    kind=texts,
    category=st.none() | texts,
    state=st.sampled_from(["valid", "superseded", "invalidated", "pending"]),
    document_id=st.none() | texts,
    timestamp=moments,
    created_at=moments,
    tags=tags,
    metadata=metadata,
    provenance=st.builds(Provenance, session_id=st.none() | texts, entry_ids=tags, quote=texts),
    superseded_by=st.none() | texts,
    reason=st.none() | texts,
    pinned=st.booleans(),
)
documents = st.builds(
    Document,
    id=texts,
    text=texts,
    facts=st.none() | st.lists(facts, max_size=3).map(tuple),
    supersedes=st.lists(st.tuples(texts, texts), max_size=2).map(tuple),
    context=st.none() | texts,
    tags=tags,
    metadata=metadata,
    timestamp=moments,
    explicit=st.booleans(),
)
parts = st.one_of(
    st.builds(Text, texts),
    st.builds(Thinking, texts),
    st.builds(ToolCall, texts, texts, st.dictionaries(texts, texts | st.integers(), max_size=2)),
    st.builds(ToolResult, texts, texts, texts, st.booleans()),
    st.just(Image()),
)
entries = st.builds(
    Entry,
    id=texts,
    role=st.sampled_from(["user", "assistant", "tool", "system", "host"]),
    parts=st.lists(parts, max_size=3).map(tuple),
    parent_id=st.none() | texts,
    timestamp=moments,
    synthetic=st.booleans(),
    compaction=st.booleans(),
)


@given(documents)
def test_a_document_comes_back_exactly(document):
    text = encode_document(document)
    assert text.isascii()
    assert decode_document(text) == document


@given(entries)
def test_an_entry_comes_back_exactly(entry):
    text = encode_entry(entry)
    assert text.isascii()
    assert decode_entry(text) == entry


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "7", '{"v":1}', '{"v":1,"document":{"id":"d"}}', "[" * 9999]
)
def test_what_is_no_record_is_a_value_error(text):
    with pytest.raises(ValueError, match=r"."):
        decode_document(text)
    with pytest.raises(ValueError, match=r"."):
        decode_entry(text)


def test_a_later_version_is_not_guessed_at():
    record = json.loads(encode_document(Document("d", "text"))) | {"v": 2}
    with pytest.raises(ValueError, match="version 2"):
        decode_document(json.dumps(record))


def test_the_hash_is_of_the_content_alone():
    early, late = (datetime(2030, 1, day, tzinfo=UTC) for day in (1, 2))
    first = Document("d", "text", facts=(Fact("f", "text", created_at=early),))
    same = Document("d", "text", facts=(Fact("f", "text", created_at=late),))
    other = Document("d", "text", facts=(Fact("f", "other text", created_at=early),))
    assert content_hash(first) == content_hash(same)
    assert content_hash(first) != content_hash(other)
