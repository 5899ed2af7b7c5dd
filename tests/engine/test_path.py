"""The active path from whole lists, from what follows an entry, and its discarded part."""

from __future__ import annotations

from typing import Any

import pytest

from hindsight_core.engine.path import LivePath


def entries(*names: str) -> list[dict[str, Any]]:
    return [{"id": n, "role": "user", "parts": [{"type": "text", "text": n}]} for n in names]


def ids(path: LivePath) -> list[str]:
    return [entry.id for entry in path.entries]


def test_whole_lists_replace_and_since_appends() -> None:
    path = LivePath()

    assert path.update({"entries": entries("a", "b")})
    assert path.update({"since": "b", "entries": entries("c")})
    assert ids(path) == ["a", "b", "c"]
    assert path.update({"since": "a", "entries": entries("d")})
    assert ids(path) == ["a", "d"]
    assert path.update({})
    assert ids(path) == ["a", "d"]
    assert path.update({"entries": []})
    assert ids(path) == []


def test_an_unknown_since_changes_nothing() -> None:
    path = LivePath()
    path.update({"entries": entries("a")})

    assert path.update({"since": "x", "entries": entries("b")}) is False
    assert ids(path) == ["a"]


@pytest.mark.spec("br/BR-22")
@pytest.mark.parametrize(
    ("params", "gone", "kept"),
    [
        ({"entries": entries("a", "b")}, ["a", "b", "c"], "c"),
        ({"entries": entries("a", "b", "c")}, ["a", "b", "c"], None),
        ({"entries": entries("x", "y")}, ["x", "y"], None),
        ({"firstKept": "b"}, ["a", "b", "c"], "b"),
        ({"firstKept": "unknown"}, ["a", "b", "c"], None),
        ({}, ["a", "b", "c"], None),
    ],
)
def test_what_a_compaction_takes(params: dict[str, Any], gone: list[str], kept: str | None) -> None:
    path = LivePath()
    path.update({"entries": entries("a", "b", "c")})

    found, boundary = path.discarded(params)

    assert [entry.id for entry in found] == gone
    assert boundary == kept
