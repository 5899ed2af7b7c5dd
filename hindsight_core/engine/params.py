"""What each canonical request must carry; a wrong one is refused with the field's name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_NAMES = {
    str: "a string",
    bool: "true or false",
    list: "a list",
    dict: "an object",
    int: "a number",
}


@dataclass(frozen=True, slots=True)
class Field:
    """One parameter.

    Attributes:
        kind: Its JSON type.
        required: Whether the request makes sense without it.
    """

    kind: type
    required: bool = False


_ENTRIES = {"entries": Field(list), "since": Field(str)}
FIELDS: Mapping[str, Mapping[str, Field]] = {
    "initialize": {
        "protocol": Field(int),
        "client": Field(dict),
        "cwd": Field(str),
        "session": Field(dict, required=True),
        "session.id": Field(str, required=True),
        "session.parentId": Field(str),
        "session.file": Field(str),
        "session.agent": Field(str),
        "session.ephemeral": Field(bool),
        "session.trusted": Field(bool),
        "session.otherMemory": Field(str),
        "config": Field(dict),
        "capabilities": Field(dict),
    },
    "session/start": {
        "reason": Field(str),
        "system": Field(str),
        "instructions": Field(list),
        **_ENTRIES,
    },
    "system/prompt": {"system": Field(str, required=True)},
    "turn/start": {
        "turnId": Field(str, required=True),
        "prompt": Field(str, required=True),
        **_ENTRIES,
    },
    "turn/progress": {
        "turnId": Field(str),
        "partial": Field(dict),
        "wait": Field(bool),
        "give": Field(bool),
        **_ENTRIES,
    },
    "turn/end": {"turnId": Field(str), "aborted": Field(bool), **_ENTRIES},
    "compact/before": {"reason": Field(str), **_ENTRIES},
    "session/end": {"reason": Field(str), "withinMs": Field(int)},
    "tool/call": {
        "name": Field(str, required=True),
        "arguments": Field(dict),
        "toolCallId": Field(str),
    },
    "command/run": {"name": Field(str, required=True), "arguments": Field(str)},
    "event": {"name": Field(str, required=True), "payload": Field(dict)},
}


def complaint(method: str, params: Mapping[str, object]) -> str | None:
    """What is wrong with a request's parameters, naming the field; null counts as not given."""
    for name, field in FIELDS.get(method, {}).items():
        value = _value(params, name)
        if value is None:
            if field.required:
                return f"`{name}` is missing; {method} needs it"
        elif not isinstance(value, field.kind) or (field.kind is int and value is True):
            return f"`{name}` must be {_NAMES[field.kind]}"
        elif field.required and value == "" and name != "prompt":
            return f"`{name}` must not be empty"
    return None


def _value(params: Mapping[str, object], name: str) -> object:
    head, _, tail = name.partition(".")
    value = params.get(head)
    if tail:
        return value.get(tail) if isinstance(value, dict) else None
    return value
