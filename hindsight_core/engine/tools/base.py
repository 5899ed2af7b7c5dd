"""What a tool of the agent is, and how its arguments are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol, TypeVar

from hindsight_core.errors import HindsightError

Choice = TypeVar("Choice", bound=str)
TEXT: Mapping[str, Any] = {"type": "string"}


@dataclass(frozen=True, slots=True)
class ToolResult:
    """Text for the model, and the structure beside it."""

    content: str
    is_error: bool = False
    details: Mapping[str, Any] = field(default_factory=dict)

    def wire(self) -> dict[str, Any]:
        """The form of ``tool/call``'s result."""
        return {"content": self.content, "isError": self.is_error, "details": dict(self.details)}


class SessionTool(Protocol):
    """One tool of one session."""

    @property
    def name(self) -> str:
        """As the agent calls it; its description is the template ``tools/<name>``."""
        ...

    @property
    def parameters(self) -> Mapping[str, Any]:
        """JSON schema of an object."""
        ...

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Run it; raises `BadArgument` for what the agent can correct, else `HindsightError`."""
        ...


class BadArgument(HindsightError):
    """A tool argument that the agent can correct."""


def failed(text: str) -> ToolResult:
    """A result that says what went wrong."""
    return ToolResult(text, is_error=True, details={"outcome": "failed"})


def schema(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    """The JSON schema of a tool's arguments."""
    return {"type": "object", "properties": dict(properties), "required": list(required)}


def text(arguments: Mapping[str, Any], name: str) -> str | None:
    """A string argument without the space around it; None when missing or blank."""
    value = arguments.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise BadArgument(f"`{name}` must be a string.")
    return value.strip() or None


def whole(arguments: Mapping[str, Any], name: str, *, default: int, top: int) -> int:
    """A whole number from 1 to ``top``; a larger one is lowered."""
    value = arguments.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise BadArgument(f"`{name}` must be a whole number from 1 to {top}.")
    return min(value, top)


def switch(arguments: Mapping[str, Any], name: str) -> bool | None:
    """True or false; None when missing."""
    value = arguments.get(name)
    if value is not None and not isinstance(value, bool):
        raise BadArgument(f"`{name}` must be true or false.")
    return value


def choice(arguments: Mapping[str, Any], name: str, known: Sequence[Choice]) -> Choice | None:
    """One of the known words; None when missing."""
    value = text(arguments, name)
    found = next((word for word in known if word == value), None)
    if value is not None and found is None:
        raise BadArgument(f"`{name}` must be one of {', '.join(known)}.")
    return found


def names(arguments: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """A list of strings; empty when missing."""
    value = arguments.get(name) or ()
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise BadArgument(f"`{name}` must be a list of strings.")
    return tuple(value)


def moment(arguments: Mapping[str, Any], name: str) -> datetime | None:
    """An ISO date or time; without a zone it is UTC."""
    value = text(arguments, name)
    if value is None:
        return None
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        raise BadArgument(f"`{name}` must be an ISO date, such as 2026-03-01.") from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
