"""What a host's program noted in a session besides the talk: never words, never stored."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_TASKS = re.compile(r"todo|task|plan", re.IGNORECASE)
_OURS = "hindsight"


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


def record_from_wire(value: object) -> Record | None:
    """``{name, data}`` of an Entry object."""
    if not isinstance(value, Mapping):
        return None
    name, data = value.get("name"), value.get("data")
    return Record(name, data) if isinstance(name, str) and isinstance(data, Mapping) else None


def record_to_wire(record: Record) -> dict[str, Any]:
    """The form that `record_from_wire` reads."""
    return {"name": record.name, "data": dict(record.data)}
