"""The wire form, in both directions, and messages of forms that agent programs use."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_core.testing.transcripts import TranscriptBuilder
from hindsight_core.transcript.entry import Image, Text, Thinking, ToolCall, ToolResult
from hindsight_core.transcript.wire import entries_from_wire, entry_from_wire

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=12,
)
KEYS = ["id", "parentId", "role", "parts", "content", "type", "text", "timestamp", "info", "name"]
VALUES = JSON | st.sampled_from(["user", "text", "toolCall", "toolResult", "thinking", "message"])


def decoded(record: object) -> Any:
    return entry_from_wire(record)[0]


def test_every_entry_survives_a_round_trip() -> None:
    talk = TranscriptBuilder()
    talk.user("port?")
    talk.assistant("I look", thinking="hm", calls=[talk.call("bash", command="ss", deep=[1, {}])])
    talk.result("7443", is_error=True)
    talk.record("a block")
    talk.compact()
    talk.add("user", Text("see"), Image(), synthetic=True)
    assert entries_from_wire(talk.wire()).entries == tuple(talk.entries)


@pytest.mark.spec("br/BR-26")
def test_shapes_of_other_programs_are_read_and_unknown_ones_counted() -> None:
    messages = [
        {"role": "user", "content": "plain string: port 1"},
        {"info": {"role": "user"}, "parts": [{"type": "text", "text": "nested: port 2"}]},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "blocks: port 3"},
                {"type": "image", "data": "AA"},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "name": "x", "input": {}},
                {"type": "text", "text": "done 4"},
            ],
        },
        {
            "role": "tool",
            "content": [{"type": "tool_result", "content": [{"type": "text", "text": "out 5"}]}],
        },
        {"kind": "brand-new-record", "payload": {"body": "?"}},
        {"role": "user", "content": None},
        {"role": "user"},
    ]
    found = entries_from_wire(messages)
    assert found.unknown == 1
    assert [entry.text for entry in found.entries] == [
        "plain string: port 1",
        "nested: port 2",
        "blocks: port 3",
        "done 4",
        "",
        "",
        "",
    ]
    assert found.entries[4].parts == (ToolResult("", "tool", "out 5"),)
    assert found.entries[3].parts[0] == ToolCall("", "x", {})


def test_an_unknown_part_is_counted_and_the_rest_of_the_entry_kept() -> None:
    record = {"role": "user", "parts": [{"type": "hologram"}, {"type": "text", "text": "hi"}, 7]}
    entry, unknown = entry_from_wire(record)
    assert entry is not None
    assert (entry.parts, unknown) == ((Text("hi"),), 2)


@pytest.mark.spec("br/BR-68")
def test_a_tool_result_in_the_users_name_is_the_tools() -> None:
    part = {"type": "tool_result", "tool_use_id": "c1", "content": "hotel option 1: 90 EUR"}
    assert decoded({"role": "user", "content": [part]}).role == "tool"
    both = decoded({"role": "user", "content": [part, {"type": "text", "text": "take it"}]})
    assert (both.role, both.text) == ("user", "take it")


@pytest.mark.spec("pi/D-05")
def test_thinking_is_read_under_both_names() -> None:
    for name in ("text", "thinking"):
        entry = decoded({"role": "assistant", "content": [{"type": "thinking", name: "hm"}]})
        assert entry.parts == (Thinking("hm"),)


def test_a_record_without_parent_follows_the_one_before_and_null_is_a_root() -> None:
    records = [
        {"id": "a", "role": "user"},
        {"id": "b", "role": "user"},
        {"id": "c", "role": "user", "parentId": None},
        {"id": "d", "role": "user", "parentId": "a"},
    ]
    assert [e.parent_id for e in entries_from_wire(records).entries] == [None, "a", None, "a"]


def test_an_id_that_is_missing_comes_from_content_and_place() -> None:
    first = {"role": "user", "content": "same"}
    one, two = entries_from_wire([first, first]).entries
    assert one.id != two.id
    assert entries_from_wire([first]).entries[0].id == one.id


@pytest.mark.parametrize(
    "value",
    ["2030-01-15T10:00:00Z", "2030-01-15T11:00:00+01:00", "2030-01-15T10:00:00", 1894701600,
     1894701600000],
)  # fmt: skip
def test_times_are_aware_and_utc(value: object) -> None:
    entry = decoded({"role": "user", "timestamp": value})
    assert entry.timestamp == datetime(2030, 1, 15, 10, tzinfo=UTC)


@given(st.lists(VALUES | st.dictionaries(st.sampled_from(KEYS), VALUES), max_size=6))
def test_no_record_is_an_exception(records: list[object]) -> None:
    found = entries_from_wire(records)
    assert len(found.entries) <= len(records)
    assert len(found.entries) + found.unknown >= len(records)
