"""Copilot CLI's event file, as its documentation describes it."""

from __future__ import annotations

from collections.abc import Mapping

from hindsight_core.transcript.entry import Entry, Role, Text
from hindsight_core.transcript.shapes import plain_text, read_time
from hindsight_core.transcript.wire import content_id
from hindsight_host_generic.transcripts.base import Record, Said

_SPOKEN: Mapping[str, Role] = {"user.message": "user", "assistant.message": "assistant"}
_ABOUT = ("session.", "assistant.", "tool.", "hook.", "subagent.", "system.", "abort", "skill.")


def read_copilot(record: Record, previous: str | None) -> Said:
    """One line of the file."""
    kind, data = record.get("type"), record.get("data")
    if not isinstance(kind, str):
        return "unknown"
    role = _SPOKEN.get(kind)
    if role is None:
        return "silent" if kind.startswith(_ABOUT) else "unknown"
    text = plain_text(data.get("content")) if isinstance(data, Mapping) else ""
    given = record.get("id")
    return Entry(
        id=given if isinstance(given, str) and given else content_id(dict(record), previous),
        role=role,
        parts=(Text(text),) if text else (),
        parent_id=previous,
        timestamp=read_time(record.get("timestamp")),
    )
