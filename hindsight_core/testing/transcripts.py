"""Builds transcripts for tests: sessions with branches, tools, host records and compactions."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hindsight_core.transcript.entry import (
    Entry,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Transcript,
    Window,
)
from hindsight_core.transcript.path import active_path
from hindsight_core.transcript.wire import entry_to_wire

START = datetime(2030, 1, 15, 10, 0, tzinfo=UTC)
_PI_ROLES = {"user": "user", "assistant": "assistant", "tool": "toolResult", "system": "system"}


class TranscriptBuilder:
    """Adds one entry a call, each the child of the one before, a minute later.

    Example::

        talk = TranscriptBuilder()
        talk.user("which port?")
        talk.assistant("I look.", calls=[talk.call("bash", command="ss -l")])
        talk.result("7443")
        talk.window()

    Attributes:
        entries: As recorded, with abandoned branches.
    """

    def __init__(
        self, session_id: str = "s1", *, host: str = "generic", cwd: str | None = None
    ) -> None:
        self.session_id = session_id
        self.host = host
        self.cwd = cwd
        self.entries: list[Entry] = []
        self._leaf: str | None = None

    def user(self, text: str, *, synthetic: bool = False) -> Entry:
        """The person's words, or a program's in their name."""
        return self.add("user", Text(text), synthetic=synthetic)

    def assistant(
        self, text: str = "", *, thinking: str = "", calls: list[ToolCall] | None = None
    ) -> Entry:
        """An answer: a thought, words and tool calls, in this order, what there is of them."""
        parts: list[Part] = [Thinking(thinking)] if thinking else []
        parts += [Text(text)] if text else []
        return self.add("assistant", *parts, *(calls or []))

    def call(self, name: str, **arguments: Any) -> ToolCall:  # noqa: ANN401
        """A tool call for `assistant`."""
        return ToolCall(f"call-{len(self.entries) + 1}", name, arguments)

    def result(self, text: str, *, name: str = "bash", is_error: bool = False) -> Entry:
        """What a tool gave back."""
        return self.add("tool", ToolResult(f"call-{len(self.entries)}", name, text, is_error))

    def record(self, text: str) -> Entry:
        """A record of the host, such as a custom message."""
        return self.add("host", Text(text), synthetic=True)

    def compact(self, summary: str = "Summary of what happened so far.") -> Entry:
        """A compaction: what stands before it is no longer before the model."""
        return self.add("host", Text(summary), synthetic=True, compaction=True)

    def add(
        self, role: Role, *parts: Part, synthetic: bool = False, compaction: bool = False
    ) -> Entry:
        """Any entry."""
        number = len(self.entries) + 1
        entry = Entry(
            f"e{number:02d}",
            role,
            parts,
            self._leaf,
            START + timedelta(minutes=number),
            synthetic=synthetic,
            compaction=compaction,
        )
        self.entries.append(entry)
        self._leaf = entry.id
        return entry

    def branch(self, after: str | None) -> None:
        """Go back: the next entry is the child of this one, what followed it is abandoned."""
        self._leaf = after

    @property
    def path(self) -> tuple[Entry, ...]:
        """The active path."""
        return active_path(self.entries, self._leaf)

    def transcript(self) -> Transcript:
        """The session as a reader would give it."""
        return Transcript(self.session_id, self.host, self.path, cwd=self.cwd)

    def window(self, *, reason: str = "manual") -> Window:
        """The whole path as one window, not sanitised."""
        return Window(self.session_id, self.host, self.path, reason=reason)

    def wire(self) -> list[dict[str, Any]]:
        """Everything recorded, as the protocol's Entry objects."""
        return [entry_to_wire(entry) for entry in self.entries]

    def write_canonical(self, path: Path) -> Path:
        """Write canonical JSONL with a header."""
        header = {"session": {"id": self.session_id, "host": self.host, "cwd": self.cwd}}
        return _write(path, [header, *self.wire()])

    def write_pi(self, path: Path) -> Path:
        """Write a session file as pi does (version 3)."""
        header = {"type": "session", "version": 3, "id": self.session_id, "cwd": self.cwd}
        return _write(path, [header, *map(_pi_record, self.entries)])


def _write(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def _pi_record(entry: Entry) -> dict[str, Any]:
    record: dict[str, Any] = {"id": entry.id, "parentId": entry.parent_id}
    record["timestamp"] = entry.timestamp.isoformat() if entry.timestamp else None
    if entry.compaction:
        return {"type": "compaction", **record, "summary": entry.text}
    if entry.role == "host":
        return {"type": "custom_message", **record, "customType": "note", "content": entry.text}
    message: dict[str, Any] = {"role": _PI_ROLES[entry.role]}
    content: list[dict[str, Any]] = []
    for part in entry.parts:
        match part:
            case Text():
                content.append({"type": "text", "text": part.text})
            case Thinking():
                content.append({"type": "thinking", "thinking": part.text})
            case ToolCall():
                arguments = dict(part.arguments)
                content.append(
                    {"type": "toolCall", "id": part.id, "name": part.name, "arguments": arguments}
                )
            case ToolResult():
                content.append({"type": "text", "text": part.text})
                message |= {"toolCallId": part.tool_call_id, "toolName": part.name}
                message["isError"] = part.is_error
            case _:
                content.append({"type": "image", "data": "QUJD", "mimeType": "image/png"})
    return {"type": "message", **record, "message": {**message, "content": content}}
