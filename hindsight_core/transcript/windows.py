"""Windows of a path and the chunks that one model call can read (pi/X-05 to X-08)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hindsight_core.tokens import CHARACTERS_PER_TOKEN
from hindsight_core.transcript.entry import Entry

SAVED_OPEN = "[ALREADY SAVED TO MEMORY]"
SAVED_CLOSE = "[END ALREADY SAVED]"
MIN_CHUNK = 2_000
_GAP = "\n\n"
_MARKS = len(SAVED_OPEN) + len(SAVED_CLOSE) + 2

SavedRange = tuple[str | None, str]


@dataclass(frozen=True, slots=True)
class TextBlock:
    """One entry as text for the memorize stages.

    Attributes:
        text: Never blank.
        saved: Its content is in the bank already.
        entry_id: Where it comes from.
    """

    text: str
    saved: bool = False
    entry_id: str = ""


def window_entries(
    path: Sequence[Entry], *, after: str | None, before: str | None
) -> tuple[Entry, ...]:
    """Entries strictly after one id and strictly before another (pi/X-07).

    An unknown `after` means from the start, an unknown `before` to the end; where `after` does
    not stand before `before` there is nothing.
    """
    places = {entry.id: number for number, entry in enumerate(path)}
    start = places.get(after, -1) + 1 if after is not None else 0
    end = places.get(before, len(path)) if before is not None else len(path)
    return tuple(path[start:end])


def saved_entries(path: Sequence[Entry], ranges: Iterable[SavedRange]) -> frozenset[str]:
    """Ids inside any range (start, end]; an unknown end is ignored (pi/X-06).

    An unknown or missing start means from the beginning of the path.
    """
    places = {entry.id: number for number, entry in enumerate(path)}
    found: set[str] = set()
    for start, end in ranges:
        last = places.get(end)
        if last is None:
            continue
        first = places.get(start, -1) + 1 if start is not None else 0
        found.update(entry.id for entry in path[first : last + 1])
    return frozenset(found)


def live_ranges(
    path: Sequence[Entry], ranges: Iterable[SavedRange], *, cursor: str | None
) -> tuple[SavedRange, ...]:
    """The ranges that still matter: their end exists and lies after the cursor (pi/X-06)."""
    places = {entry.id: number for number, entry in enumerate(path)}
    passed = places.get(cursor, -1) if cursor is not None else -1
    return tuple(r for r in ranges if places.get(r[1], -1) > passed)


def chunk_size(context_window: int, fraction: float) -> int:
    """Characters of a chunk for a model's context window in tokens (pi/X-08)."""
    return max(MIN_CHUNK, int(context_window * fraction * CHARACTERS_PER_TOKEN))


def join(blocks: Iterable[TextBlock | str]) -> str:
    """All blocks as one text, every run of saved ones between its two marks (pi/X-05)."""
    parts: list[str] = []
    inside = False
    for block in map(_block, blocks):
        if block.saved != inside:
            parts.append(SAVED_OPEN if block.saved else SAVED_CLOSE)
            inside = block.saved
        parts.append(block.text)
    if inside:
        parts.append(SAVED_CLOSE)
    return _GAP.join(parts)


def chunks(blocks: Iterable[TextBlock | str], max_chars: int) -> tuple[str, ...]:
    """Blocks packed greedily into texts of at most `max_chars`; never an empty one (pi/X-08).

    A block that is too long by itself is cut by characters. Saved runs are marked anew in every
    chunk, so that no chunk has half a pair of marks (pi/D-06).
    """
    packed: list[str] = []
    pending: list[TextBlock] = []
    size = 0
    for block in _fitting(blocks, max_chars):
        # An upper bound: the marks of a run are counted for every block of it.
        need = len(block.text) + len(_GAP) + (_MARKS + 2 * len(_GAP) if block.saved else 0)
        if pending and size + need - len(_GAP) > max_chars:
            packed.append(join(pending))
            pending, size = [], 0
        pending.append(block)
        size += need
    if pending:
        packed.append(join(pending))
    return tuple(packed)


def _fitting(blocks: Iterable[TextBlock | str], max_chars: int) -> Iterable[TextBlock]:
    for block in map(_block, blocks):
        if not block.text.strip():
            continue
        room = max_chars - (_MARKS + 2 * len(_GAP) if block.saved else 0)
        room = max(1, room)
        for start in range(0, len(block.text), room):
            piece = block.text[start : start + room]
            if piece.strip():
                yield TextBlock(piece, block.saved, block.entry_id)


def _block(block: TextBlock | str) -> TextBlock:
    return TextBlock(block) if isinstance(block, str) else block
