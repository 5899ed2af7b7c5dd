"""Windows, saved ranges and chunks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_core.transcript.entry import Entry
from hindsight_core.transcript.windows import (
    SAVED_CLOSE,
    SAVED_OPEN,
    TextBlock,
    chunk_size,
    chunks,
    join,
    live_ranges,
    saved_entries,
    window_entries,
)


def path(names: str) -> tuple[Entry, ...]:
    return tuple(Entry(name, "user") for name in names)


@pytest.mark.spec("pi/X-07")
@pytest.mark.parametrize(
    ("names", "after", "before", "window"),
    [
        ("abcde", "a", "d", "bc"),
        ("abcde", None, "c", "ab"),
        ("abcde", "e", "c", ""),
        ("abcdefg", "e", "c", ""),
        ("abcdefg", "e", None, "fg"),
        ("abcde", "e", None, ""),
        ("abcde", "unknown", "c", "ab"),
        ("abcde", "b", "unknown", "cde"),
        ("abcde", "c", "c", ""),
        ("abcde", None, None, "abcde"),
    ],
)
def test_a_window_lies_between_cursor_and_boundary(
    names: str, after: str | None, before: str | None, window: str
) -> None:
    found = window_entries(path(names), after=after, before=before)
    assert "".join(e.id for e in found) == window


def test_saved_ranges_hold_their_end_and_not_their_start() -> None:
    assert saved_entries(path("abcdef"), [("b", "d")]) == {"c", "d"}
    assert saved_entries(path("abcdef"), [("b", "gone")]) == frozenset()
    assert saved_entries(path("abcdef"), [("gone", "b"), (None, "a")]) == {"a", "b"}
    ranges = [("a", "b"), ("c", "e"), ("d", "gone")]
    assert live_ranges(path("abcdef"), ranges, cursor="c") == (("c", "e"),)
    assert live_ranges(path("abcdef"), ranges, cursor=None) == (("a", "b"), ("c", "e"))


@pytest.mark.spec("pi/X-08")
def test_the_size_of_a_chunk_follows_the_context_window() -> None:
    assert chunk_size(32_000, 0.5) == 64_000
    assert chunk_size(1_001, 0.333) == 2_000
    assert chunk_size(5_001, 0.333) == 6_661


@pytest.mark.spec("pi/X-08", "pi/D-23")
def test_chunks_are_packed_greedily_and_never_empty() -> None:
    assert chunks(["aa", "bb"], 6) == ("aa\n\nbb",)
    assert chunks(["aaa", "bb", "c"], 7) == ("aaa\n\nbb", "c")
    assert chunks(["x" * 25], 10) == ("x" * 10, "x" * 10, "x" * 5)
    # The first block is the one that is too long: nothing empty comes before it.
    assert chunks(["x" * 12, "b"], 10) == ("x" * 10, "xx\n\nb")
    assert chunks(["", "  \n "], 10) == ()
    assert chunks([], 10) == ()


@pytest.mark.spec("pi/D-06")
def test_marks_of_a_saved_run_are_whole_in_every_chunk() -> None:
    blocks = [TextBlock(f"{n}" * 1_500, saved=1 <= n <= 4) for n in range(6)]
    packed = chunks(blocks, 2_000)
    assert len(packed) == 6
    for number, chunk in enumerate(packed):
        saved = 1 <= number <= 4
        assert (SAVED_OPEN in chunk, SAVED_CLOSE in chunk) == (saved, saved)
        assert len(chunk) <= 2_000


@pytest.mark.spec("pi/D-06")
def test_one_pair_of_marks_a_run() -> None:
    blocks = [TextBlock("a", saved=True), TextBlock("b", saved=True), TextBlock("c")]
    assert join(blocks) == f"{SAVED_OPEN}\n\na\n\nb\n\n{SAVED_CLOSE}\n\nc"
    assert join([TextBlock("c"), TextBlock("a", saved=True)]).endswith(f"a\n\n{SAVED_CLOSE}")
    assert "ALREADY SAVED TO MEMORY" in SAVED_OPEN and "END ALREADY SAVED" in SAVED_CLOSE


BLOCKS = st.lists(st.builds(TextBlock, st.text(max_size=300), st.booleans()), max_size=12)


@pytest.mark.spec("pi/X-08", "pi/D-06", "pi/D-23")
@given(BLOCKS, st.integers(100, 400))
def test_chunks_lose_nothing_and_stay_in_bounds(blocks: list[TextBlock], size: int) -> None:
    packed = chunks(blocks, size)
    assert all(chunk.strip() and len(chunk) <= size for chunk in packed)
    assert all(chunk.count(SAVED_OPEN) == chunk.count(SAVED_CLOSE) for chunk in packed)

    def letters(text: str) -> str:
        return "".join(text.replace(SAVED_OPEN, "").replace(SAVED_CLOSE, "").split())

    assert letters("".join(packed)) == letters("".join(block.text for block in blocks))
