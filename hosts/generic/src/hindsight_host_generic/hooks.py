"""An agent's hook payload in our own terms; tolerant, because agents change theirs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hindsight_core.host_hooks import HookSession
from hindsight_host_generic.agents.base import Agent, Event

MAX_ID = 200


@dataclass(frozen=True, slots=True)
class Hook:
    """One event as the agent told it.

    Attributes:
        event: Which event.
        prompt: What the person wrote.
        reply: The assistant's last words, where the payload has them.
        transcript: Path of the transcript file.
        turn: The agent's id of the turn.
        why: Reason of a start, an end or a compaction, in our words.
    """

    event: Event
    prompt: str | None
    reply: str | None
    transcript: str | None
    turn: str | None
    why: str | None


def read_hook(agent: Agent, event: Event, payload: Mapping[str, Any]) -> Hook:
    """The parts of a payload that we use; what is missing is None."""
    fields = agent.fields
    words = {
        "session_start": (fields.source, agent.starts, "startup"),
        "session_end": (fields.reason, agent.ends, "quit"),
        "compact_before": (fields.trigger, agent.triggers, "unknown"),
    }
    why = None
    if event.kind in words:
        names, known, otherwise = words[event.kind]
        why = known.get(_text(payload, names) or "", otherwise)
    return Hook(
        event=event,
        prompt=_text(payload, fields.prompt),
        reply=_text(payload, fields.reply),
        transcript=_text(payload, fields.transcript),
        turn=_text(payload, fields.turn),
        why=why,
    )


def session_of(agent: Agent, event: Event, payload: Mapping[str, Any]) -> HookSession | None:
    """Which session a payload belongs to; None without an id, or for a sub-agent's end alone."""
    fields = agent.fields
    session = _text(payload, fields.session)
    if session is None:
        return None
    cwd = _text(payload, fields.cwd) or _text(payload, ("cwd",)) or ""
    child = _text(payload, fields.child)
    if child is not None and child != session:
        return HookSession(id=child[:MAX_ID], cwd=cwd, parent=session[:MAX_ID])
    if event.kind in ("child_start", "child_end"):
        return None
    return HookSession(id=session[:MAX_ID], cwd=cwd)


def _text(payload: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    """The first non-blank text under one of the names; of a list its first text."""
    for name in names:
        value = payload.get(name)
        if isinstance(value, list):
            value = next((item for item in value if isinstance(item, str)), None)
        if isinstance(value, str) and value.strip():
            return value
    return None
