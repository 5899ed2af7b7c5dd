"""Reads canonical JSONL: the protocol's Entry objects, one a line, after an optional header."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hindsight_core.transcript.entry import Transcript
from hindsight_core.transcript.path import active_path
from hindsight_core.transcript.readers.base import Collector, derived_session_id
from hindsight_core.transcript.readers.lines import Lines
from hindsight_core.transcript.wire import entry_from_wire

_WHOLE_FILE = 64 * 1024 * 1024
_LISTS = ("entries", "messages")


class CanonicalReader:
    """JSONL of Entry objects; also one JSON list of them, or an object that holds such a list.

    The header, if there is one, is the first line: ``{"session": {"id", "host"?, "cwd"?}}``.
    """

    name = "canonical"

    def accepts(self, path: Path, head: str) -> bool:
        """Any file whose first line is JSON, or which starts like one JSON value."""
        return head.lstrip().startswith(("{", "["))

    def read(self, path: Path, *, tail_bytes: int | None = None) -> Transcript:
        """The active path of the file; raises `TranscriptError` when most of it is unknown."""
        lines = Lines(path, tail_bytes=tail_bytes)
        collector = Collector()
        header: Mapping[str, Any] = {}
        previous: str | None = None
        for record in _records(lines):
            if record is not None and not collector.records and "role" not in record:
                session = record.get("session")
                if isinstance(session, Mapping) or record.get("type") == "session":
                    header = session if isinstance(session, Mapping) else record
                    continue
            collector.records += 1
            entry, unknown = entry_from_wire(record, previous=previous)
            if entry is None:
                collector.unknown += 1
                continue
            collector.unknown_parts += unknown
            collector.add(entry)
            previous = entry.id
        collector.require(path, "Entry objects")
        entries = active_path(tuple(collector))
        return Transcript(
            session_id=_string(header, "id", "sessionId") or derived_session_id(iter(entries)),
            host=_string(header, "host") or "generic",
            entries=entries,
            cwd=_string(header, "cwd") or None,
            unknown=collector.unknown + collector.unknown_parts + lines.oversized,
            skipped=collector.skipped,
            repaired=lines.repaired,
        )


def _records(lines: Lines) -> Iterator[dict[str, Any] | None]:
    """Records of the lines, or of the file as one JSON value when its first line is not one."""
    found = iter(lines.records())
    first = next(found, None)
    if first is None:
        whole = _whole(lines.path)
        if whole is not None:
            yield from (item if isinstance(item, dict) else None for item in whole)
            return
    elif (inner := _list_in(first)) is not None:
        yield from (item if isinstance(item, dict) else None for item in inner)
        return
    yield first
    yield from found


def _whole(path: Path) -> Iterable[object] | None:
    try:
        if path.stat().st_size > _WHOLE_FILE:
            return None
        value = json.loads(path.read_bytes().decode("utf-8", "replace"))
    except (OSError, ValueError, RecursionError):
        return None
    if isinstance(value, list):
        return value
    return _list_in(value) if isinstance(value, dict) else None


def _list_in(value: Mapping[str, Any]) -> Iterable[object] | None:
    return next((v for name in _LISTS if isinstance(v := value.get(name), list)), None)


def _string(header: Mapping[str, Any], *names: str) -> str:
    return next((v for name in names if isinstance(v := header.get(name), str) and v), "")
