"""Texts on one line and of bounded length."""

from __future__ import annotations

_HEAD_SHARE = 0.7
_GAP = "\n…\n"


def one_line(text: str) -> str:
    """The text with every kind of line break and run of space made one space."""
    return " ".join(text.split())


def clip(text: str, limit: int) -> str:
    """At most ``limit`` characters: the first 70 % and the last 30 %, with a mark between."""
    if len(text) <= limit:
        return text
    room = max(0, limit - len(_GAP))
    head = int(room * _HEAD_SHARE)
    tail = room - head
    return text[:head] + _GAP + (text[-tail:] if tail else "")
