"""Kept parts as a document's text: labelled paragraphs, or a JSON array of messages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from hindsight_core.memorize.transcript.projection import Said
    from hindsight_core.transcript.entry import Entry

Form = Literal["text", "json"]
Spoken = tuple["Entry", tuple["Said", ...]]
_LABELS = {"user": "User", "assistant": "Assistant", "tool": "Tool"}


def worded(spoken: Iterable[Spoken], *, form: Form) -> str:
    """The text of entries with what is kept of them; empty when nothing is.

    Args:
        spoken: Entries of a path with their kept parts.
        form: ``text`` for a reader of prose (oc/O-TX-1), ``json`` for a server that merges
            arrays (s1/S-RET-2).
    """
    kept = [(entry, parts) for entry, parts in spoken if parts]
    if not kept:
        return ""
    if form == "json":
        return json.dumps([_message(*item) for item in kept], ensure_ascii=False, indent=2)
    return "\n\n".join(f"{_LABELS[entry.role]}: {_lines(parts)}" for entry, parts in kept)


def _lines(parts: Iterable[Said]) -> str:
    return "\n".join(_line(part) for part in parts)


def _line(part: Said) -> str:
    match part.kind:
        case "thinking":
            return f"[thinking] {part.text}"
        case "toolCall" if part.arguments is not None:
            given = json.dumps(part.arguments, ensure_ascii=False, default=str)
            return f"[tool {part.name} {given}]"
        case "toolCall":
            return f"[tool {part.name}: {part.text}]" if part.text else f"[tool {part.name}]"
        case "toolResult":
            return f"[{part.name} {'failed' if part.is_error else 'gave'}] {part.text}"
        case _:
            return part.text


def _message(entry: Entry, parts: Iterable[Said]) -> Mapping[str, Any]:
    message: dict[str, Any] = {"role": entry.role}
    if entry.timestamp:
        message["timestamp"] = entry.timestamp.isoformat()
    message["content"] = [_content(part) for part in parts]
    return message


def _content(part: Said) -> Mapping[str, Any]:
    if part.kind == "toolCall":
        told = {"summary": part.text} if part.arguments is None else {"arguments": part.arguments}
        return {"type": part.kind, "name": part.name, **told}
    if part.kind == "toolResult":
        return {"type": part.kind, "name": part.name, "isError": part.is_error, "text": part.text}
    return {"type": part.kind, "text": part.text}
