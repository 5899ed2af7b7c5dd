"""What a host's program noted in a session besides the talk: never words, never stored."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

# Under this name the plugin that is replaced keeps what it has behind it (pi/M-04).
STATE = "hindsight-state"
_TASKS = re.compile(r"todo|task|plan", re.IGNORECASE)
_OURS = "hindsight"
_START = re.compile(r"start|from|after|first", re.IGNORECASE)
_END = re.compile(r"end|to|last|until", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Record:
    """Data under a name, such as a task list that an extension of the host keeps.

    Attributes:
        name: The kind of record, or the tool whose details it is.
        data: As the host gave it.
    """

    name: str
    data: Mapping[str, Any]


def task_record(name: object, data: object) -> Record | None:
    """A record that may hold a task list; others are not carried along."""
    if not isinstance(name, str) or not isinstance(data, Mapping):
        return None
    return Record(name, data) if _TASKS.search(name) and _OURS not in name.lower() else None


def state_record(
    name: object, data: object, *, known: Callable[[str], str | None]
) -> Record | None:
    """What the replaced plugin has memorized of a session, by ids of our entries.

    Args:
        name: The kind of record.
        data: ``{watermark?, savedRanges?}``; its ids may be those of records that say nothing.
        known: The entry that a record is or follows; None before the first one.

    Returns:
        ``watermark`` (an id) and ``ranges`` (pairs, the first of which may be None), each only
        where the record sets it.
    """
    if name != STATE or not isinstance(data, Mapping):
        return None
    found: dict[str, Any] = {}
    watermark, ranges = data.get("watermark"), data.get("savedRanges")
    if isinstance(watermark, str) and (entry := known(watermark)) is not None:
        found["watermark"] = entry
    if isinstance(ranges, list):
        pairs = [pair for item in ranges if (pair := _pair(item)) is not None]
        ends = [(known(first) if first else None, known(last)) for first, last in pairs]
        found["ranges"] = [[first, last] for first, last in ends if last is not None]
    return Record(STATE, found)


def _pair(item: object) -> tuple[str | None, str] | None:
    """Start and end of a saved range: a list of two, or an object that names them."""
    if isinstance(item, Mapping):
        ends = [key for key in item if _END.match(key)]
        starts = [key for key in item if _START.match(key)]
        item = [item[starts[0]] if starts else None, item[ends[0]] if ends else None]
    if not isinstance(item, list | tuple) or len(item) != 2 or not isinstance(item[1], str):
        return None
    return (item[0] if isinstance(item[0], str) else None), item[1]


def record_from_wire(value: object) -> Record | None:
    """``{name, data}`` of an Entry object."""
    if not isinstance(value, Mapping):
        return None
    name, data = value.get("name"), value.get("data")
    return Record(name, data) if isinstance(name, str) and isinstance(data, Mapping) else None


def record_to_wire(record: Record) -> dict[str, Any]:
    """The form that `record_from_wire` reads."""
    return {"name": record.name, "data": dict(record.data)}
