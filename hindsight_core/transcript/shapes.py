"""Message contents as agent programs write them, read into parts; what is unknown is counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from hindsight_core.transcript.entry import (
    Image,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

ROLES: Mapping[str, Role] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "tool": "tool",
    "toolresult": "tool",
    "tool_result": "tool",
    "function": "tool",
    "system": "system",
    "developer": "system",
    "host": "host",
    "custom": "host",
}
_MAX_DEPTH = 4


@dataclass(slots=True)
class Parts:
    """The readable parts of one message, and how many were of an unknown form."""

    known: list[Part] = field(default_factory=list)
    unknown: int = 0


def read_content(content: object) -> Parts:
    """Parts of a message's content: a text, one part, or a list of them (br/BR-26)."""
    parts = Parts()
    _collect(content, parts)
    return parts


def plain_text(content: object, *, depth: int = _MAX_DEPTH) -> str:
    """The text in a content of any form, joined by newlines; images and the rest left out."""
    if isinstance(content, str):
        return content
    if depth and isinstance(content, list | tuple):
        texts = (plain_text(item, depth=depth - 1) for item in content)
        return "\n".join(text for text in texts if text)
    if depth and isinstance(content, Mapping):
        inner = content.get("text")
        return plain_text(content.get("content") if inner is None else inner, depth=depth - 1)
    return ""


def read_time(value: object) -> datetime | None:
    """An aware UTC time of ISO 8601 text, epoch seconds or milliseconds; None for the rest."""
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(value)
            return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            return datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None


def read_role(value: object) -> Role | None:
    """One of our roles for the names that agent programs use; None for an unknown one."""
    return ROLES.get(value.lower()) if isinstance(value, str) else None


def _collect(content: object, parts: Parts) -> None:
    if content is None:
        return
    if isinstance(content, str):
        parts.known.append(Text(content))
    elif isinstance(content, Mapping):
        part = read_part(content)
        if part is None:
            parts.unknown += 1
        else:
            parts.known.append(part)
    elif isinstance(content, list | tuple):
        for item in content:
            if isinstance(item, list | tuple):
                parts.unknown += 1
            else:
                _collect(item, parts)
    else:
        parts.unknown += 1


def read_part(part: Mapping[Any, Any]) -> Part | None:
    """One part of the wire form, or of the forms that model APIs use; None if it is unknown."""
    match part.get("type"):
        case "text" | "input_text" | "output_text":
            text = part.get("text")
            return Text(text) if isinstance(text, str) else None
        case "thinking" | "reasoning" | "redacted_thinking":
            # The field is `text` on the wire, `thinking` in session files (pi/D-05).
            thought = part.get("text", part.get("thinking"))
            return Thinking(thought if isinstance(thought, str) else "")
        case "toolCall" | "tool_call" | "tool_use" | "function_call":
            return _tool_call(part)
        case "toolResult" | "tool_result" | "function_call_output":
            return _tool_result(part)
        case "image" | "image_url" | "input_image":
            return Image()
        case _:
            return None


def _tool_call(part: Mapping[Any, Any]) -> ToolCall | None:
    name = part.get("name")
    if not isinstance(name, str):
        return None
    arguments = part.get("arguments", part.get("input"))
    if not isinstance(arguments, Mapping):
        arguments = {} if arguments is None else {"value": arguments}
    return ToolCall(_string(part, "id", "call_id"), name, dict(arguments))


def _tool_result(part: Mapping[Any, Any]) -> ToolResult:
    content = next((part[k] for k in ("text", "content", "output") if k in part), None)
    return ToolResult(
        tool_call_id=_string(part, "toolCallId", "tool_use_id", "tool_call_id", "call_id"),
        name=_string(part, "name", "toolName") or "tool",
        text=plain_text(content),
        is_error=part.get("isError", part.get("is_error")) is True,
    )


def _string(part: Mapping[Any, Any], *names: str) -> str:
    return next((v for name in names if isinstance(v := part.get(name), str)), "")
