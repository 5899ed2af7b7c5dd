"""What a transcript reader is, and how it collects entries within bounds."""

from __future__ import annotations

import hashlib
import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Protocol, runtime_checkable

from hindsight_core.errors import TranscriptError
from hindsight_core.transcript.characters import cut
from hindsight_core.transcript.entry import Entry, Part, Text, Thinking, ToolResult, Transcript

MAX_BYTES = 96_000_000
MAX_ENTRIES = 100_000
PART_LIMIT = 1_000_000
RESULT_LIMIT = 8_000


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
    """Keeps the newest entries of a file of any size, in bounded memory.

    Attributes:
        records: Everything that looked like a record, known or not.
        unknown: Records of an unknown form.
        unknown_parts: Parts of an unknown form in known records.
        skipped: Entries at the start that were let go because the file is too large.
    """

    def __init__(self, *, max_bytes: int = MAX_BYTES, max_entries: int = MAX_ENTRIES) -> None:
        self.records = 0
        self.unknown = 0
        self.unknown_parts = 0
        self.skipped = 0
        self._limits = (max_bytes, max_entries)
        self._entries: deque[tuple[int, Entry]] = deque()
        self._size = 0

    def add(self, entry: Entry) -> None:
        """Take one entry; its texts are bounded at once, its images hold nothing."""
        entry = replace(entry, parts=tuple(map(_bounded, entry.parts)))
        size = sum(sys.getsizeof(getattr(part, "text", "")) + 200 for part in entry.parts)
        self._entries.append((size, entry))
        self._size += size
        while self._size > self._limits[0] or len(self._entries) > self._limits[1]:
            gone, _ = self._entries.popleft()
            self._size -= gone
            self.skipped += 1

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
        return (entry for _, entry in self._entries)


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
