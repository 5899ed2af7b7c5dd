"""The conversation as text for active memory: who said what, thoughts and tools included (am)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from hindsight_core.transcript.entry import Entry, Text, Thinking, ToolCall, ToolResult
from hindsight_core.transcript.path import after_last_compaction


def rendered(entries: Sequence[Entry], *, limit: int) -> str:
    """``role: text`` blocks between blank lines, cut from the front (am/A-CTX).

    What stands before the last compaction is not before the model any more, but for what the host
    kept of it; the summary in its place is. Records that the host or this program made are left
    out.

    Args:
        entries: The active path, sanitised, oldest first.
        limit: Most characters; the end is kept.
    """
    text = "\n\n".join(block for entry in _live(entries) for block in _blocks(entry))
    return text[-limit:] if limit > 0 else ""


def _live(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    after = after_last_compaction(entries)
    start = len(entries) - len(after)
    if not start:
        return after
    compaction, before = entries[start - 1], entries[: start - 1]
    at = next((n for n, entry in enumerate(before) if entry.id == compaction.kept), len(before))
    return (compaction, *before[at:], *after)


def _blocks(entry: Entry) -> Iterator[str]:
    if entry.compaction and (summary := entry.text.strip()):
        yield f"summary: {summary}"
        return
    if entry.role in ("host", "system"):
        return
    said: list[str] = []
    for part in entry.parts:
        match part:
            case Text():
                said.append(part.text.strip())
            case Thinking() if thought := part.text.strip():
                said.append(f"Thinking: {thought}")
            case ToolCall():
                said.append(f"Tool call: {part.name} {_json(part)}")
            case ToolResult() if text := part.text.strip():
                yield f"tool {part.name}: {text}"
            case _:
                continue
    if text := "\n".join(line for line in said if line):
        yield f"{entry.role}: {text}"


def _json(call: ToolCall) -> str:
    return json.dumps(dict(call.arguments), ensure_ascii=False, default=str)
