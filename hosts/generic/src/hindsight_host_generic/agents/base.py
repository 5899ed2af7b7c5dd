"""What one hook-JSON agent is: the names of its events and fields, and the form of its replies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from hindsight_core.host import Limits

Kind = Literal[
    "session_start",
    "prompt",
    "turn_end",
    "compact_before",
    "compact_after",
    "session_end",
    "child_start",
    "child_end",
]
Payload = Mapping[str, Any]
# Thirty seconds are what a prompt's hook gets; a second and a half stays for the way there.
PROMPT_S = 30
LIMITS = Limits(turn_start_ms=28_500)


@dataclass(frozen=True, slots=True)
class Event:
    """One event of an agent that is wired to ``hindsight-mem hook HOST EVENT``.

    Attributes:
        name: As the agent's configuration spells it.
        kind: What it means to us.
        context: Its reply may put text before the model.
        notice: Its reply may tell the person something.
        timeout_s: What the wiring grants the hook, in seconds; our own bounds are lower.
    """

    name: str
    kind: Kind
    context: bool = False
    notice: bool = False
    timeout_s: int = 10


@dataclass(frozen=True, slots=True)
class Reply:
    """What memory has to say to one event; None is nothing.

    Attributes:
        context: For the model: the block, as the core wrapped it.
        notice: For the person.
    """

    context: str | None = None
    notice: str | None = None


@dataclass(frozen=True, slots=True)
class Fields:
    """Where a payload holds what; of several names the first that is there counts."""

    session: tuple[str, ...] = ("session_id",)
    cwd: tuple[str, ...] = ("cwd",)
    transcript: tuple[str, ...] = ("transcript_path",)
    prompt: tuple[str, ...] = ("prompt",)
    reply: tuple[str, ...] = ("last_assistant_message",)
    turn: tuple[str, ...] = ("turn_id", "prompt_id")
    child: tuple[str, ...] = ("agent_id",)
    reason: tuple[str, ...] = ("reason",)
    source: tuple[str, ...] = ("source",)
    trigger: tuple[str, ...] = ("trigger",)


Emit = Callable[[Event, Reply, Payload], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Agent:
    """One agent program whose hooks are processes with JSON on stdin and stdout.

    Attributes:
        name: As in ``hook NAME`` and ``install NAME``.
        title: For people.
        events: The events that are wired.
        emit: Writes a reply in exactly the agent's form; ``{}`` is nothing.
        fields: Where its payloads hold what.
        dialect: Form of its transcript file, by name; None when it has none that we read.
        starts: Its reasons of a session start as ours; unknown ones are ``startup``.
        ends: Its reasons of a session end as ours; unknown ones are ``quit``.
        triggers: Its reasons of a compaction as ours.
        limits: Its own cuts, less a second and a half.
        proven: ``ran`` with the real program, or wired from its ``documentation`` only.
    """

    name: str
    title: str
    events: tuple[Event, ...]
    emit: Emit
    fields: Fields = field(default_factory=Fields)
    dialect: str | None = None
    starts: Mapping[str, str] = field(default_factory=dict)
    ends: Mapping[str, str] = field(default_factory=dict)
    triggers: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = LIMITS
    proven: Literal["ran", "documentation"] = "documentation"

    def event(self, name: str) -> Event | None:
        """The wired event of that name, in any spelling of its case."""
        wanted = name.lower()
        return next((e for e in self.events if e.name.lower() == wanted), None)


def envelope(event: Event, reply: Reply, payload: Payload) -> dict[str, Any]:
    """The form that Claude Code, Codex and Gemini CLI share."""
    out: dict[str, Any] = {}
    if reply.context and event.context:
        out["hookSpecificOutput"] = {
            "hookEventName": event.name,
            "additionalContext": reply.context,
        }
    if reply.notice and event.notice:
        out["systemMessage"] = reply.notice
    return out


STARTS: Mapping[str, str] = {
    "startup": "startup",
    "resume": "resume",
    "clear": "new",
    "compact": "compact",
    "fork": "fork",
}
ENDS: Mapping[str, str] = {"clear": "new", "resume": "resume"}
TRIGGERS: Mapping[str, str] = {"manual": "manual", "auto": "threshold"}
