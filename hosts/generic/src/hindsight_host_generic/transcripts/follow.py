"""Follows a transcript file while it grows: each byte is read once, however long it becomes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

from hindsight_core.transcript.characters import cut
from hindsight_core.transcript.entry import Entry, Image, Part, Text, Thinking, ToolResult
from hindsight_core.transcript.path import active_path
from hindsight_host_generic.transcripts.base import Dialect, Link, Said, Whole

MB = 1024 * 1024
MAX_ENTRIES = 20_000
MAX_CHARACTERS = 24_000_000
_LINE = 8 * 1024 * 1024
_TEXT, _RESULT = 200_000, 4_000


@dataclass(frozen=True, slots=True)
class Reach:
    """How much of a long file is read when a process meets it (br/BR-73).

    Attributes:
        tail: Bytes before its end, for what is being talked about.
        unread: Bytes at most of what no process had read yet.
    """

    tail: int
    unread: int


RESIDENT = Reach(tail=4 * MB, unread=32 * MB)
# A process that answers one hook and ends.
PASSING = Reach(tail=MB, unread=4 * MB)


@dataclass(frozen=True, slots=True)
class News:
    """What an update found.

    Attributes:
        entries: The path, or what follows ``since`` on it.
        since: The entry that was the last one before; None when the path is another one.
        compacted: What stood before is no longer before the model.
        skipped: Bytes at the start of the file that were never read.
    """

    entries: tuple[Entry, ...] = ()
    since: str | None = None
    compacted: bool = False
    skipped: int = 0


class Follower:
    """The active path of one transcript file.

    Args:
        dialect: Reads its records.
        memo: Where it stood is kept here, for the next process, and what it counted: ``offset``,
            ``file``, ``records``, ``unknown``.
        reach: How much of a long file is read.
    """

    def __init__(
        self, dialect: Dialect, memo: MutableMapping[str, Any], *, reach: Reach = RESIDENT
    ) -> None:
        self.unknown = int(memo.get("unknown") or 0)
        self.records = int(memo.get("records") or 0)
        self._dialect = dialect
        self._memo = memo
        self._reach = reach
        self._entries: dict[str, Entry] = {}
        self._links: dict[str, str | None] = {}
        self._leaf: str | None = None
        self._size = 0
        self._at: int | None = None
        self._file: tuple[int, int] | None = None
        self._told: list[str] = []

    def update(self, path: str) -> News:
        """Read what is new in the file; raises `OSError`."""
        with open(path, "rb") as source:
            found = os.fstat(source.fileno())
            file = (found.st_dev, found.st_ino)
            shrunk = self._at is not None and (file != self._file or found.st_size < self._at)
            if shrunk:
                # Written anew, and shorter: the agent compacted without a word (br/BR-40).
                self._forget()
                self._at = None
            known = self._known(file) if self._at is None else self._at
            start = self._start(source, found.st_size, known)
            skipped = start if start > known else 0
            before = list(self._told)
            compacted = shrunk
            for record in self._lines(source, start):
                compacted = self._take(record) or compacted
            self._file = file
        self._memo.update(offset=self._at, file=list(file))
        self._memo.update(records=self.records, unknown=self.unknown)
        return self._news(before, compacted=compacted and bool(before), skipped=skipped)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The active path, as far as the file tells; compactions are entries of it."""
        return active_path(tuple(self._entries.values()), self._leaf)

    def _known(self, file: tuple[int, int]) -> int:
        """How far an earlier process had read this very file."""
        offset = self._memo.get("offset")
        return offset if self._memo.get("file") == list(file) and isinstance(offset, int) else 0

    def _start(self, source: BinaryIO, size: int, known: int) -> int:
        wanted = known
        if self._at is None:
            # What an earlier process read is read again as far as the talk goes on from it.
            wanted = min(known, max(0, size - self._reach.tail))
        wanted = max(wanted, size - self._first(known))
        if wanted in (0, self._at):
            source.seek(wanted)
            return wanted
        source.seek(wanted - 1)
        # A line that begins before is no line.
        while (rest := source.readline(_LINE)) and not rest.endswith(b"\n"):
            pass
        return source.tell()

    def _first(self, known: int) -> int:
        """How far from the end reading begins at most."""
        return self._reach.unread if known else self._reach.tail

    def _lines(self, source: BinaryIO, start: int) -> Iterator[object]:
        """Records from here on; a last line without its end is still being written."""
        self._at = at = start
        while raw := source.readline(_LINE):
            if not raw.endswith(b"\n"):
                if len(raw) < _LINE:
                    return
                while (rest := source.readline(_LINE)) and not rest.endswith(b"\n"):
                    pass
                self._at = at = source.tell()
                yield None
                continue
            at += len(raw)
            self._at = at
            if raw.strip():
                yield _parsed(raw)

    def _take(self, record: object) -> bool:
        """Whether this record says that the conversation was compacted."""
        self.records += 1
        said = self._read(record)
        if said == "unknown":
            self.unknown += 1
        elif isinstance(said, Link):
            if len(self._links) < MAX_ENTRIES:
                self._links[said.id] = self._parent(said.parent)
        elif isinstance(said, Whole):
            gone = bool(self._entries) and not any(e.id in self._entries for e in said.entries)
            self._forget()
            for entry in said.entries:
                self._add(entry)
            return gone
        elif isinstance(said, Entry):
            self._add(said)
            return said.compaction
        return False

    def _read(self, record: object) -> Said:
        """One record; the file is another program's, so that any of its fields may be anything."""
        if not isinstance(record, dict):
            return "unknown"
        try:
            return self._dialect(record, self._leaf)
        except (TypeError, ValueError, AttributeError, LookupError, RecursionError):
            return "unknown"

    def _add(self, entry: Entry) -> None:
        parent = self._parent(entry.parent_id)
        entry = replace(
            entry, parent_id=None if parent == entry.id else parent,
            parts=tuple(map(_bounded, entry.parts)),
        )  # fmt: skip
        known = self._entries.get(entry.id)
        if known is not None:
            self._size -= _size(known)
            entry = replace(entry, parent_id=known.parent_id)
        self._entries[entry.id] = entry
        self._leaf = entry.id
        self._size += _size(entry)
        while len(self._entries) > MAX_ENTRIES or self._size > MAX_CHARACTERS:
            self._size -= _size(self._entries.pop(next(iter(self._entries))))

    def _parent(self, parent: str | None) -> str | None:
        seen: set[str] = set()
        while parent in self._links and parent not in seen:
            seen.add(parent)
            parent = self._links[parent]
        return parent

    def _forget(self) -> None:
        self._entries.clear()
        self._links.clear()
        self._leaf, self._size = None, 0

    def _news(self, before: list[str], *, compacted: bool, skipped: int) -> News:
        path = self.entries
        ids = [_mark(entry) for entry in path]
        self._told = ids
        same = bool(before) and ids[: len(before)] == before
        return News(
            path[len(before) :] if same else path,
            since=path[len(before) - 1].id if same else None,
            compacted=compacted,
            skipped=skipped,
        )


def _mark(entry: Entry) -> str:
    """An entry as it was told; one that is written again with more in it is told again."""
    return f"{entry.id}\0{len(entry.parts)}\0{_size(entry)}"


def _parsed(raw: bytes) -> object:
    try:
        return json.loads(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def _bounded(part: Part) -> Part:
    match part:
        case Text() | Thinking() if len(part.text) > _TEXT:
            return replace(part, text=cut(part.text, _TEXT))
        case ToolResult() if len(part.text) > _RESULT:
            return replace(part, text=cut(part.text, _RESULT))
        case _:
            return part


def _size(entry: Entry) -> int:
    return sum(len(getattr(part, "text", "")) for part in entry.parts if part != Image())
