"""What a transcript reader is, and how it collects entries within bounds."""

from __future__ import annotations

import hashlib
import sys
from collections import OrderedDict, deque
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Protocol, runtime_checkable

from hindsight_core.errors import TranscriptError
from hindsight_core.transcript.characters import cut
from hindsight_core.transcript.entry import (
    Entry,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Transcript,
)

MAX_BYTES = 96_000_000
MAX_ENTRIES = 100_000
PART_LIMIT = 1_000_000
RESULT_LIMIT = 8_000
SHORT_LIMIT = 500


@runtime_checkable
class TranscriptReader(Protocol):
    """Reads one format of session files; third parties register theirs as importers.

    Attributes:
        name: Of the format or its agent program; ``read_transcript(host=...)`` asks for it.
    """

    name: str

    def accepts(self, path: Path, head: str) -> bool:
        """Whether the file is of this format, by its name and its first characters."""
        ...

    def read(self, path: Path) -> Transcript:
        """The whole file; raises `TranscriptError` when that cannot be."""
        ...


class Collector:
    """Keeps the talk of a file of any size, in bounded memory.

    What is too much goes in this order, the oldest first: most of long tool calls, results
    and thoughts, then entries in which nobody speaks, and only then what was said.

    Attributes:
        records: Everything that looked like a record, known or not.
        unknown: Records of an unknown form.
        unknown_parts: Parts of an unknown form in known records.
        skipped: Entries that were let go because the file is too large.
    """

    def __init__(self, *, max_bytes: int = MAX_BYTES, max_entries: int = MAX_ENTRIES) -> None:
        self.records = 0
        self.unknown = 0
        self.unknown_parts = 0
        self.skipped = 0
        self._limits = (max_bytes, max_entries)
        self._entries: OrderedDict[int, Entry] = OrderedDict()
        self._size = 0
        self._number = 0
        self._long: deque[int] = deque()
        self._silent: deque[int] = deque()
        self._parents: dict[str, str | None] = {}

    def add(self, entry: Entry) -> None:
        """Take one entry; its texts are bounded at once, its images hold nothing."""
        entry = replace(entry, parts=tuple(map(_bounded, entry.parts)))
        self._number += 1
        self._entries[self._number] = entry
        self._size += _size(entry)
        if any(_is_long(part) for part in entry.parts):
            self._long.append(self._number)
        if not _speaks(entry):
            self._silent.append(self._number)
        while self._size > self._limits[0] and self._long:
            self._shorten(self._long.popleft())
        while self._size > self._limits[0] or len(self._entries) > self._limits[1]:
            self._let_go(self._silent.popleft() if self._silent else next(iter(self._entries)))

    def _shorten(self, number: int) -> None:
        if (entry := self._entries.get(number)) is not None:
            short = replace(entry, parts=tuple(map(_shortened, entry.parts)))
            self._entries[number] = short
            self._size -= _size(entry) - _size(short)

    def _let_go(self, number: int) -> None:
        """Drop an entry; what follows it hangs on what stood before it."""
        gone = self._entries.pop(number)
        self._size -= _size(gone)
        self.skipped += 1
        if len(self._parents) < MAX_ENTRIES:
            self._parents[gone.id] = self._kept_parent(gone)

    def _kept_parent(self, entry: Entry) -> str | None:
        parent, seen = entry.parent_id, {entry.id}
        while parent in self._parents and parent not in seen:
            seen.add(parent)
            parent = self._parents[parent]
        return parent

    def require(self, path: Path, form: str) -> None:
        """Raise `TranscriptError` when most records are of an unknown form (br/BR-26)."""
        if 2 * self.unknown > self.records:
            raise TranscriptError(
                f"{path}: {self.unknown} of {self.records} records are not known as {form}. "
                "Nothing was read; convert the file to canonical JSONL, or install a plugin "
                "that reads this format."
            )

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        if not self._parents:
            return iter(self._entries.values())
        return (replace(e, parent_id=self._kept_parent(e)) for e in self._entries.values())


def derived_session_id(entries: Iterator[Entry]) -> str:
    """A session id for a file that names none, from how the session begins."""
    digest = hashlib.sha256()
    for _, entry in zip(range(4), entries, strict=False):
        digest.update(f"{entry.id}\0{entry.role}\0{entry.timestamp}\0".encode())
        digest.update(entry.text.encode(errors="replace"))
    return f"file-{digest.hexdigest()[:20]}"


def _bounded(part: Part) -> Part:
    match part:
        case Text() | Thinking() if len(part.text) > PART_LIMIT:
            return replace(part, text=cut(part.text, PART_LIMIT))
        case ToolResult() if len(part.text) > RESULT_LIMIT:
            return replace(part, text=cut(part.text, RESULT_LIMIT))
        case _:
            return part


def _size(entry: Entry) -> int:
    """About how many bytes of memory an entry takes."""
    return sum(sum(map(sys.getsizeof, _texts(part))) + 200 for part in entry.parts)


def _texts(part: Part) -> list[str]:
    if isinstance(part, ToolCall):
        return [value for value in part.arguments.values() if isinstance(value, str)]
    return [getattr(part, "text", "")]


def _is_long(part: Part) -> bool:
    return not isinstance(part, Text) and any(len(t) > SHORT_LIMIT for t in _texts(part))


def _shortened(part: Part) -> Part:
    match part:
        case ToolResult() | Thinking():
            return replace(part, text=cut(part.text, SHORT_LIMIT))
        case ToolCall():
            given = part.arguments.items()
            short = {k: cut(v, SHORT_LIMIT) if isinstance(v, str) else v for k, v in given}
            return replace(part, arguments=short)
        case _:
            return part


def _speaks(entry: Entry) -> bool:
    """Whether somebody says something in it: a person, the assistant, or a summary of them."""
    return entry.role != "tool" and any(isinstance(p, Text) and p.text for p in entry.parts)
