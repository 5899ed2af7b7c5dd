"""What is kept of a session's steers for its next process: ids and times, never a text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

MOST = 500
FUTURE = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Delivered:
    """One steer that went to the agent.

    Attributes:
        token: What its memories are rated with.
        ids: The memories (``bank:id``).
        at: When.
        turn: How many turns the session had.
    """

    token: str
    ids: tuple[str, ...]
    at: datetime
    turn: int


def memo(turns: int, steers: Iterable[Delivered]) -> dict[str, Any]:
    """The JSON form; the oldest steers are left out of a very long session's."""
    kept = list(steers)[-MOST:]
    return {
        "turns": turns,
        "steers": [
            {"token": s.token, "ids": list(s.ids), "at": s.at.timestamp(), "turn": s.turn}
            for s in kept
        ],
    }


def read_memo(kept: Mapping[str, Any], *, now: datetime) -> tuple[int, tuple[Delivered, ...]]:
    """Turns and steers out of it; what is malformed is passed over (am/A-SCHED-8)."""
    steers = kept.get("steers")
    found = [_read(item, now) for item in steers] if isinstance(steers, list) else []
    turns = kept.get("turns")
    count = turns if isinstance(turns, int) and not isinstance(turns, bool) else 0
    return max(0, count), tuple(item for item in found if item is not None)


def _read(item: object, now: datetime) -> Delivered | None:
    if not isinstance(item, Mapping):
        return None
    token, ids, at, turn = (item.get(name) for name in ("token", "ids", "at", "turn"))
    if not isinstance(token, str) or not token:
        return None
    if not isinstance(ids, list) or not ids or not all(isinstance(i, str) and i for i in ids):
        return None
    when = _moment(at, now)
    if when is None or not isinstance(turn, int) or isinstance(turn, bool) or turn < 0:
        return None
    return Delivered(token, tuple(ids), when, turn)


def _moment(at: object, now: datetime) -> datetime | None:
    if isinstance(at, bool) or not isinstance(at, int | float) or not math.isfinite(at) or at < 0:
        return None
    try:
        when = datetime.fromtimestamp(at, UTC)
    except (OverflowError, OSError, ValueError):
        return None
    return when if when <= now + FUTURE else None
