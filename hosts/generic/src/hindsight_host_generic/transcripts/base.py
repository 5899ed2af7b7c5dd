"""What one record of a transcript file says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from hindsight_core.transcript.entry import Entry

Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Link:
    """A record that says nothing, but others name it as what they follow."""

    id: str
    parent: str | None


@dataclass(frozen=True, slots=True)
class Whole:
    """The whole conversation, written anew: what is not in it is no longer before the model."""

    entries: tuple[Entry, ...]


# An entry, a link, the whole, nothing ("silent"), or a form that is not known.
Said = Entry | Link | Whole | Literal["silent", "unknown"]
Dialect = Callable[[Record, str | None], Said]
"""Reads a record; its second argument is the id of the entry before it in the file."""
