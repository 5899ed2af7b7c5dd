"""A memory as a person edits it: a JSON object with the fields that may be changed (am/A-TOOL)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hindsight_core.errors import ConfigError

if TYPE_CHECKING:
    from hindsight_core.memorize.capture.corrections import Edit
    from hindsight_core.memorize.lifecycle.memory import Memory

FIELDS = ("text", "kind", "scope", "projectId", "confidence", "priority", "status")
STATES = {"active": "valid", "deleted": "invalidated"}
_NUMBERS = ("confidence", "priority")


def editable(memory: Memory) -> str:
    """The fields as JSON; id, times and provenance are not among them."""
    fact, record = memory.fact, memory.record
    fields = {
        "text": fact.text,
        "kind": fact.kind,
        "scope": record.scope,
        "projectId": record.project,
        "confidence": record.confidence,
        "priority": record.priority,
        "status": "active" if memory.is_active else "deleted",
    }
    return json.dumps(fields, ensure_ascii=False, indent=2)


def read_form(text: str) -> Edit:
    """What was edited; a field that is left out stays as it is.

    Raises:
        ConfigError: It is no such object; the message names the field.
    """
    from hindsight_core.memorize.capture.corrections import Edit

    try:
        fields = json.loads(text)
    except ValueError as error:
        raise ConfigError(f"not saved: this is no JSON ({error})") from None
    if not isinstance(fields, dict):
        raise ConfigError("not saved: one JSON object is wanted")
    for name in fields:
        if name not in FIELDS:
            raise ConfigError(f"not saved: {name!r} cannot be changed; {', '.join(FIELDS)} can")
    words = {name: _text(fields, name) for name in FIELDS if name not in _NUMBERS}
    numbers = {name: _number(fields, name) for name in _NUMBERS}
    status = words["status"]
    if status is not None and status not in STATES:
        raise ConfigError(f"not saved: status is one of {', '.join(STATES)}")
    return Edit(
        text=words["text"],
        kind=words["kind"],
        scope=words["scope"],
        project=words["projectId"] or None,
        confidence=numbers["confidence"],
        priority=numbers["priority"],
        state=STATES[status] if status else None,
    )


def _text(fields: dict[str, Any], name: str) -> str | None:
    value = fields.get(name)
    if value is not None and not isinstance(value, str):
        raise ConfigError(f"not saved: {name} must be a text")
    return value


def _number(fields: dict[str, Any], name: str) -> float | None:
    value = fields.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ConfigError(f"not saved: {name} must be a number from 0 to 1")
    return float(value)
