"""Gemini CLI's chat file: messages that are written again when they change, and ``$set``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hindsight_core.transcript.entry import Entry, Part, Role, Text, Thinking, ToolCall, ToolResult
from hindsight_core.transcript.shapes import plain_text, read_time
from hindsight_core.transcript.wire import content_id
from hindsight_host_generic.transcripts.base import Record, Said, Whole

# What hooks added, HTML-escaped; the person did not say it.
_ADDED = re.compile(r"<hook_context>.*?</hook_context>\s*", re.S)
_MACHINE = ("<session_context>", "<state_snapshot>")
_ABOUT = frozenset({"info", "error", "warning"})


def without_hook_context(text: str) -> str:
    """A prompt without what hooks glued to it."""
    return _ADDED.sub("", text)


def read_gemini(record: Record, previous: str | None) -> Said:
    """One line of the file."""
    if isinstance(changed := record.get("$set"), Mapping):
        messages = changed.get("messages")
        if not isinstance(messages, list):
            return "silent"
        entries: list[Entry] = []
        for message in messages:
            found = _message(message, entries[-1].id if entries else None)
            if isinstance(found, Entry):
                entries.append(found)
        return Whole(tuple(entries))
    if any(name.startswith("$") for name in record) or "sessionId" in record:
        return "silent"
    return _message(record, previous)


def _message(record: object, previous: str | None) -> Said:
    if not isinstance(record, Mapping):
        return "unknown"
    kind = record.get("type")
    if kind in _ABOUT:
        return "silent"
    if kind not in ("user", "gemini"):
        return "unknown"
    parts = _user(record) if kind == "user" else _model(record)
    role: Role = "assistant" if kind == "gemini" else "user"
    if role == "user":
        text = "\n".join(part.text for part in parts if isinstance(part, Text)).lstrip()
        if parts and all(isinstance(part, ToolResult) for part in parts):
            role = "tool"
        elif text.startswith(_MACHINE):
            role = "host"
    given = record.get("id")
    return Entry(
        id=given if isinstance(given, str) and given else content_id(dict(record), previous),
        role=role,
        parts=tuple(parts),
        parent_id=previous,
        timestamp=read_time(record.get("timestamp")),
        synthetic=role == "host",
    )


def _user(record: Mapping[str, Any]) -> list[Part]:
    content = record.get("content")
    if isinstance(content, str):
        content = [{"text": content}]
    parts: list[Part] = []
    for item in content if isinstance(content, list) else []:
        if not isinstance(item, Mapping):
            continue
        response = item.get("functionResponse")
        if isinstance(response, Mapping):
            given = response.get("response")
            output = given.get("output", given.get("error")) if isinstance(given, Mapping) else ""
            parts.append(
                ToolResult(
                    str(response.get("id") or ""),
                    str(response.get("name") or "tool"),
                    plain_text(output),
                    is_error=isinstance(given, Mapping) and "error" in given,
                )
            )
        elif text := without_hook_context(plain_text(item)):
            parts.append(Text(text))
    return parts


def _model(record: Mapping[str, Any]) -> list[Part]:
    parts: list[Part] = []
    thoughts = record.get("thoughts")
    for thought in thoughts if isinstance(thoughts, list) else []:
        if isinstance(thought, Mapping):
            said = [str(thought[name]) for name in ("subject", "description") if thought.get(name)]
            parts.append(Thinking(": ".join(said)))
    if text := plain_text(record.get("content")):
        parts.append(Text(text))
    calls = record.get("toolCalls")
    for call in calls if isinstance(calls, list) else []:
        if isinstance(call, Mapping) and isinstance(call.get("name"), str):
            arguments = call.get("args")
            given = dict(arguments) if isinstance(arguments, Mapping) else {}
            parts.append(ToolCall(str(call.get("id") or ""), call["name"], given))
    return parts
