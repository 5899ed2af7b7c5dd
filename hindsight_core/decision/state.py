"""What a decision is made from: the last words, the open tasks, the latest talk (s1/S-DEC-10)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hindsight_core.transcript.entry import Entry

LEAST_TOKENS, MOST_TOKENS, CHARACTERS = 2_000, 12_000, 4
_SPOKEN = ("user", "assistant")


def context_characters(window_tokens: int | None) -> int:
    """A quarter of the model's window, from 2,000 to 12,000 tokens, in characters (s1/S-CFG-8)."""
    quarter = (window_tokens or 0) // 4
    return min(max(quarter, LEAST_TOKENS), MOST_TOKENS) * CHARACTERS


def activity(entries: Sequence[Entry], *, limit: int) -> str:
    """What was said lately, oldest first, as much of the newest as fits.

    Args:
        entries: Sanitised entries, oldest first.
        limit: Characters; the newest message is cut at its beginning rather than left out.
    """
    lines: list[str] = []
    left = limit
    for entry in reversed(entries):
        text = entry.text.strip()
        if entry.role not in _SPOKEN or entry.synthetic or not text:
            continue
        line = f"{entry.role}: {text}"
        if len(line) + 1 > left:
            if not lines and left > 1:
                lines.append(line[-(left - 1) :])
            break
        lines.append(line)
        left -= len(line) + 1
    return "\n".join(reversed(lines))


def last_user_message(entries: Sequence[Entry]) -> str:
    """The newest words of the person, whole."""
    spoken = (e.text for e in reversed(entries) if e.role == "user" and not e.synthetic)
    return next((text for text in spoken if text.strip()), "")
