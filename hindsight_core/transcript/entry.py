"""A transcript entry and its parts: protocol.md's wire form as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from hindsight_core.transcript.record import Record

Role = Literal["user", "assistant", "tool", "system", "host"]


@dataclass(frozen=True, slots=True)
class Text:
    """Words of a message."""

    text: str


@dataclass(frozen=True, slots=True)
class Thinking:
    """What a model thought before it answered; never evidence."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """An assistant's request to run a tool."""

    id: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gave back."""

    tool_call_id: str
    name: str
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Image:
    """An image; its content is not kept."""


Part = Text | Thinking | ToolCall | ToolResult | Image


@dataclass(frozen=True, slots=True)
class Entry:
    """One record of a session.

    Attributes:
        id: Unique in the session, given by the host.
        role: ``host`` marks records the host made itself: never the user's words.
        parts: In the order of the message.
        parent_id: The entry before it on its branch; None for the first.
        timestamp: UTC, aware; None when the host does not say.
        synthetic: Made by a program in the user's name.
        compaction: A compaction summary; what stands before it is no longer before the model.
        record: What the host's program noted with it; the sanitiser leaves it out.
        kept: Of a compaction: the first entry before it that is before the model still.
    """

    id: str
    role: Role
    parts: tuple[Part, ...] = ()
    parent_id: str | None = None
    timestamp: datetime | None = None
    synthetic: bool = False
    compaction: bool = False
    record: Record | None = None
    kept: str | None = None

    @property
    def text(self) -> str:
        """The text parts, joined by newlines."""
        return "\n".join(p.text for p in self.parts if isinstance(p, Text))


@dataclass(frozen=True, slots=True)
class Transcript:
    """A session as read from a file or a host.

    Attributes:
        session_id: The host's session id.
        host: The agent program: ``pi``, ``generic`` ...
        entries: The active path, oldest first.
        cwd: The directory that the session itself recorded, when it did.
        unknown: Records and parts that were skipped because their form is unknown.
        skipped: Entries that were left out because the file is too large.
        repaired: Lines with broken bytes, which were repaired.
    """

    session_id: str
    host: str
    entries: tuple[Entry, ...]
    cwd: str | None = None
    unknown: int = 0
    skipped: int = 0
    repaired: int = 0


@dataclass(frozen=True, slots=True)
class Window:
    """What one memorize run looks at: part of the active path.

    Attributes:
        session_id: The session.
        host: The agent program.
        entries: Sanitised entries, oldest first, never empty.
        saved: Ids of entries whose content is already stored (saved ranges, pi/X-05).
        project: Name of the project (base name of its directory), when known.
        reason: ``compact``, ``manual``, ``resave``, ``shutdown:quit``, ``import`` ...
    """

    session_id: str
    host: str
    entries: tuple[Entry, ...]
    saved: frozenset[str] = frozenset()
    project: str | None = None
    reason: str = "manual"
