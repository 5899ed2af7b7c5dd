"""The protocol's Entry objects and our values, in both directions (protocol.md, Types)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hindsight_core.transcript.entry import (
    Entry,
    Image,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from hindsight_core.transcript.record import record_from_wire, record_to_wire
from hindsight_core.transcript.shapes import Parts, read_content, read_role, read_time


@dataclass(frozen=True, slots=True)
class Decoded:
    """Entries of a list of records, and how many records and parts had an unknown form."""

    entries: tuple[Entry, ...]
    unknown: int = 0


def entries_from_wire(records: Iterable[object]) -> Decoded:
    """Read a list of Entry objects; what cannot be read is counted, never an exception.

    A record without the key ``parentId`` follows the one before it; an explicit null starts a
    root. A record without an id gets one from its content and its predecessor.
    """
    entries: list[Entry] = []
    unknown = 0
    for record in records:
        entry, strange = entry_from_wire(record, previous=entries[-1].id if entries else None)
        unknown += strange
        if entry is not None:
            entries.append(entry)
    return Decoded(tuple(entries), unknown)


def entry_from_wire(record: object, *, previous: str | None = None) -> tuple[Entry | None, int]:
    """One Entry object: the entry, or None, and the number of unknown things in it.

    Besides the protocol's form, messages with ``content`` and with the role one level deeper
    are read (br/BR-26). An object with a role and no content is an empty message, not unknown.
    """
    if not isinstance(record, Mapping):
        return None, 1
    inner = next((v for k in ("info", "message") if isinstance(v := record.get(k), Mapping)), {})
    role = read_role(record.get("role", inner.get("role")))
    if role is None:
        return None, 1
    parts = _parts(record, inner)
    if role == "user" and parts.known and all(isinstance(p, ToolResult) for p in parts.known):
        role = "tool"
    given = record.get("id")
    entry = Entry(
        id=given if isinstance(given, str) and given else content_id(record, previous),
        role=role,
        parts=tuple(parts.known),
        parent_id=_parent(record, previous),
        timestamp=read_time(record.get("timestamp", inner.get("timestamp"))),
        synthetic=record.get("synthetic") is True,
        compaction=record.get("compaction") is True,
        record=record_from_wire(record.get("record")),
        kept=kept if isinstance(kept := record.get("kept"), str) and kept else None,
    )
    return entry, parts.unknown


def entry_to_wire(entry: Entry) -> dict[str, Any]:
    """The Entry object of an entry; reading it again gives an equal entry."""
    record: dict[str, Any] = {
        "id": entry.id,
        "parentId": entry.parent_id,
        "role": entry.role,
        "parts": [part_to_wire(part) for part in entry.parts],
    }
    if entry.timestamp is not None:
        record["timestamp"] = entry.timestamp.isoformat()
    if entry.synthetic:
        record["synthetic"] = True
    if entry.compaction:
        record["compaction"] = True
    if entry.kept is not None:
        record["kept"] = entry.kept
    if entry.record is not None:
        record["record"] = record_to_wire(entry.record)
    return record


def part_to_wire(part: Part) -> dict[str, Any]:
    """The Part object of a part."""
    match part:
        case Text():
            return {"type": "text", "text": part.text}
        case Thinking():
            return {"type": "thinking", "text": part.text}
        case ToolCall():
            arguments = dict(part.arguments)
            return {"type": "toolCall", "id": part.id, "name": part.name, "arguments": arguments}
        case ToolResult():
            return {
                "type": "toolResult",
                "toolCallId": part.tool_call_id,
                "name": part.name,
                "isError": part.is_error,
                "text": part.text,
            }
        case Image():
            return {"type": "image"}


def content_id(content: object, previous: str | None) -> str:
    """An id for a record that has none: the same content at the same place has the same id."""
    plain = json.dumps([previous, content], sort_keys=True, default=str, skipkeys=True)
    return "c" + hashlib.sha256(plain.encode()).hexdigest()[:16]


def _parts(record: Mapping[Any, Any], inner: Mapping[Any, Any]) -> Parts:
    for source, name in ((record, "parts"), (record, "content"), (inner, "content")):
        if name in source:
            return read_content(source[name])
    return Parts()


def _parent(record: Mapping[Any, Any], previous: str | None) -> str | None:
    if "parentId" not in record:
        return previous
    parent = record["parentId"]
    return parent if isinstance(parent, str) and parent else None
