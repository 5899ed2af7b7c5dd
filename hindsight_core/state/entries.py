"""Transcript entries as versioned JSON text, for the turn journal: an exact round trip."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
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

VERSION = 1
_PARTS: Mapping[str, type[Part]] = {
    "text": Text,
    "thinking": Thinking,
    "toolCall": ToolCall,
    "toolResult": ToolResult,
    "image": Image,
}
_NAMES = {kind: name for name, kind in _PARTS.items()}


def encode_entry(entry: Entry) -> str:
    """An entry as one line of ASCII JSON."""
    record = {
        "v": VERSION,
        "id": entry.id,
        "role": entry.role,
        "parts": [{"type": _NAMES[type(part)], **asdict(part)} for part in entry.parts],
        "parent_id": entry.parent_id,
        "timestamp": entry.timestamp.isoformat() if entry.timestamp else None,
        "synthetic": entry.synthetic,
        "compaction": entry.compaction,
    }
    return json.dumps(record, ensure_ascii=True, separators=(",", ":"))


def decode_entry(text: str) -> Entry:
    """The entry that `encode_entry` wrote.

    Raises:
        ValueError: Not such a text, or of a version that this program does not know.
    """
    try:
        record = json.loads(text)
        if record.pop("v") != VERSION:
            raise ValueError("unknown record version")
        record["parts"] = tuple(_part(part) for part in record["parts"])
        when = record["timestamp"]
        record["timestamp"] = None if when is None else datetime.fromisoformat(when)
        return Entry(**record)
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"not an entry record: {error!r}") from error


def _part(record: Mapping[str, Any]) -> Part:
    values = dict(record)
    return _PARTS[values.pop("type")](**values)
