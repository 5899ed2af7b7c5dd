"""Bounds a long text and keeps what says most: its beginning and its end."""

from __future__ import annotations

_HEAD_SHARE = 0.7
_GAP = "\n…\n"


def clip(text: str, limit: int) -> str:
    """At most ``limit`` characters: the first 70 % and the last 30 %, with a mark between."""
    if len(text) <= limit:
        return text
    room = max(0, limit - len(_GAP))
    head = int(room * _HEAD_SHARE)
    tail = room - head
    return text[:head] + _GAP + (text[-tail:] if tail else "")
