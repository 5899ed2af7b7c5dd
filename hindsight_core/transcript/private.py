"""What a person marked as not to be remembered: private sections, and turns left out by a mark.

Both are read off the text itself, so that they hold in every process, after a crash and for a
session file that is read years later.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hindsight_core.transcript.entry import Entry

_MARK = re.compile(r"<\s{0,4}(/)?\s{0,4}private\s{0,4}>", re.IGNORECASE)


def without_private(text: str) -> str:
    """Text without its ``<private>`` sections; one that opens a line and is never closed ends it.

    A mark inside a line that nothing closes is talk about the mark. Sections may be nested.
    """
    if "private" not in text.lower():
        return text
    kept: list[str] = []
    at, depth, start = 0, 0, 0
    for found in _MARK.finditer(text):
        if not found[1]:
            start = found.start() if not depth else start
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                kept.append(text[at:start])
                at = found.end()
    if depth and not text[at:start].rpartition("\n")[2].strip():
        kept.append(text[at:start])
        at = len(text)
    return "".join([*kept, text[at:]])


def is_left_out(text: str, marks: Iterable[str]) -> bool:
    """Whether a message of the user opts its turn out: a mark stands in it as a word."""
    low = text.lower()
    there = [mark.lower() for mark in marks if mark.lower() in low]
    # Nearly always none: only then is a message of many pages not taken apart.
    return bool(there) and not {word.strip(".,;:!?()[]\"'") for word in low.split()}.isdisjoint(
        there
    )


def without_marked_turns(entries: Sequence[Entry], marks: Sequence[str]) -> tuple[Entry, ...]:
    """A path without the turns that a mark leaves out, from that message to the next of the user.

    Args:
        entries: The path, oldest first.
        marks: ``security.opt_out_marks``.
    """
    kept: list[Entry] = []
    out = False
    for entry in entries:
        if entry.role == "user" and not entry.synthetic and entry.text.strip():
            out = is_left_out(entry.text, marks)
        if not out:
            kept.append(entry)
    return tuple(kept)
