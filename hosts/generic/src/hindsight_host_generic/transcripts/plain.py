"""Transcripts of agents without a form of their own: lines with a role and a content."""

from __future__ import annotations

from dataclasses import replace

from hindsight_core.transcript.wire import entry_from_wire
from hindsight_host_generic.transcripts.base import Record, Said


def read_plain(record: Record, previous: str | None) -> Said:
    """One line, read as tolerantly as canonical JSONL is."""
    entry, _ = entry_from_wire(record, previous=previous)
    if entry is None:
        return "unknown"
    return replace(entry, parent_id=entry.parent_id or previous)
