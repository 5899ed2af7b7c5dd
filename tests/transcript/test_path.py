"""The active path: ancestors of the leaf, whatever else the session holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_core.testing.transcripts import TranscriptBuilder
from hindsight_core.transcript.entry import Entry
from hindsight_core.transcript.path import active_path, after_last_compaction


def entry(name: str, parent: str | None = None) -> Entry:
    return Entry(name, "user", (), parent)


def ids(entries: tuple[Entry, ...]) -> str:
    return "".join(e.id for e in entries)


@pytest.mark.spec("pi/D-25")
def test_an_abandoned_branch_is_not_on_the_path() -> None:
    entries = [entry("a"), entry("b", "a"), entry("c", "b"), entry("d", "a"), entry("e", "d")]
    assert ids(active_path(entries)) == "ade"
    assert ids(active_path(entries, "c")) == "abc"
    assert ids(active_path(entries, "unknown")) == "ade"


@pytest.mark.spec("pi/D-25")
def test_a_second_root_leaves_the_first_tree() -> None:
    assert ids(active_path([entry("a"), entry("b", "a"), entry("c"), entry("d", "c")])) == "cd"


def test_entries_without_parents_are_all_on_the_path() -> None:
    entries = [entry("a"), entry("b"), entry("c")]
    assert ids(active_path(entries)) == "abc"
    assert ids(active_path(entries, "b")) == "ab"
    assert active_path([]) == ()


def test_a_lost_parent_costs_one_record_and_not_the_history() -> None:
    assert ids(active_path([entry("a"), entry("b", "a"), entry("d", "lost")])) == "abd"


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(-1, 8)), max_size=20))
def test_any_tree_ends(pairs: list[tuple[int, int]]) -> None:
    entries = [entry(str(n), str(p) if p >= 0 else None) for n, p in pairs]
    path = active_path(entries)
    assert len(path) <= len(entries)
    assert not entries or path[-1] is entries[-1]


def test_only_what_follows_the_last_compaction_is_before_the_model() -> None:
    talk = TranscriptBuilder()
    talk.user("one")
    talk.compact()
    talk.user("two")
    talk.compact()
    talk.user("three")
    assert [e.text for e in after_last_compaction(talk.path)] == ["three"]
    assert [e.text for e in after_last_compaction(talk.path[2:3])] == ["two"]
