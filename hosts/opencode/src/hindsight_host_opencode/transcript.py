"""opencode's messages as protocol entries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeGuard

from hindsight_core.transcript.entry import (
    Entry,
    Image,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from hindsight_core.transcript.shapes import plain_text, read_time
from hindsight_core.transcript.wire import entry_to_wire

Json = Mapping[str, Any]
ABORTED = "MessageAbortedError"


def entries(messages: Sequence[Any], *, agents: frozenset[str] | None = None) -> list[Entry]:
    """Entries of a session's messages, oldest first, each linked to the one before it.

    Args:
        messages: As the host lists them: ``{info, parts}``; what cannot be read is left out.
        agents: Only messages of these agents, and those that name none; None for all.
    """
    found: list[Entry] = []
    for message in messages:
        if not isinstance(message, Mapping) or not _of(message, agents):
            continue
        for entry in _read(message):
            previous = found[-1].id if found else None
            found.append(
                Entry(
                    entry.id, entry.role, entry.parts, previous, entry.timestamp,
                    synthetic=entry.synthetic, compaction=entry.compaction,
                )
            )  # fmt: skip
    return found


def wire(messages: Sequence[Any], *, agents: frozenset[str] | None = None) -> list[dict[str, Any]]:
    """The same in the protocol's form."""
    return [entry_to_wire(entry) for entry in entries(messages, agents=agents)]


def agent_of(message: Json) -> str | None:
    """The agent that a message belongs to."""
    info = _info(message)
    name = info.get("agent") or info.get("mode")
    return name if isinstance(name, str) and name else None


def said(parts: Sequence[Any]) -> str:
    """The person's own words in the parts of a message."""
    texts = [p["text"] for p in parts if _is_text(p) and not _by_program(p)]
    return "\n".join(texts)


def is_aborted(messages: Sequence[Any]) -> bool:
    """Whether the last answer was stopped by the person."""
    for message in reversed(messages):
        info = _info(message) if isinstance(message, Mapping) else {}
        if info.get("role") == "assistant":
            error = info.get("error")
            return isinstance(error, Mapping) and error.get("name") == ABORTED
    return False


def _of(message: Json, agents: frozenset[str] | None) -> bool:
    name = agent_of(message)
    # The host's own agents speak in every session: their messages are records, not turns.
    return agents is None or name is None or name in agents or _is_summary(_info(message))


def _is_summary(info: Json) -> bool:
    return info.get("summary") is True and info.get("role") == "assistant"


def _info(message: Json) -> Json:
    info = message.get("info")
    return info if isinstance(info, Mapping) else message


def _read(message: Json) -> Iterator[Entry]:
    info = _info(message)
    own, role = info.get("id"), info.get("role")
    if not isinstance(own, str) or role not in ("user", "assistant"):
        return
    raw = message.get("parts")
    parts = [p for p in raw if isinstance(p, Mapping)] if isinstance(raw, list) else []
    time = info.get("time")
    when = read_time(time.get("created")) if isinstance(time, Mapping) else None
    if _is_summary(info):
        text = Text("\n".join(p["text"] for p in parts if _is_text(p)))
        yield Entry(own, "host", (text,), None, when, synthetic=True, compaction=True)
    elif role == "user":
        yield from _user(own, info, message, parts, when)
    else:
        yield from _assistant(own, message, parts, when)


def _user(
    own: str, info: Json, message: Json, parts: list[Json], when: datetime | None
) -> Iterator[Entry]:
    if any(part.get("type") == "compaction" for part in parts):
        return
    spoken: list[Part] = [Text(p["text"]) for p in parts if _is_text(p) and not _by_program(p)]
    spoken += [Image() for part in parts if str(part.get("mime", "")).startswith("image/")]
    if not parts and message.get("content") is not None:
        spoken = [Text(plain_text(message["content"]))]
    if spoken:
        yield Entry(own, "user", tuple(spoken), None, when)
    programs = [p["text"] for p in parts if _is_text(p) and _by_program(p)]
    system = info.get("system")
    programs += [system] if isinstance(system, str) and system.strip() else []
    if programs:
        # What a program put into the message is an entry of its own: never the person's words.
        made: Role = "user"
        content = tuple(Text(text) for text in programs)
        yield Entry(f"{own}/program", made, content, None, when, synthetic=True)


def _assistant(
    own: str, message: Json, parts: list[Json], when: datetime | None
) -> Iterator[Entry]:
    content: list[Part] = []
    results: list[Part] = []
    for part in parts:
        if _is_text(part):
            if not _by_program(part):
                content.append(Text(part["text"]))
        elif part.get("type") == "reasoning":
            content.append(Thinking(plain_text(part.get("text"))))
        elif part.get("type") == "tool":
            call, result = _tool(part)
            content.append(call)
            results += [result] if result else []
    if not parts and message.get("content") is not None:
        content = [Text(plain_text(message["content"]))]
    if content:
        yield Entry(own, "assistant", tuple(content), None, when)
    if results:
        yield Entry(f"{own}/results", "tool", tuple(results), None, when)


def _tool(part: Json) -> tuple[ToolCall, ToolResult | None]:
    name, call_id = str(part.get("tool") or "tool"), str(part.get("callID") or "")
    state = part.get("state")
    state = state if isinstance(state, Mapping) else {}
    given = state.get("input")
    call = ToolCall(call_id, name, dict(given) if isinstance(given, Mapping) else {})
    status = state.get("status")
    if status not in ("completed", "error"):
        return call, None
    text = plain_text(state.get("output" if status == "completed" else "error"))
    return call, ToolResult(call_id, name, text, is_error=status == "error")


def _is_text(part: object) -> TypeGuard[Json]:
    return (
        isinstance(part, Mapping)
        and part.get("type") == "text"
        and isinstance(part.get("text"), str)
    )


def _by_program(part: Json) -> bool:
    return part.get("synthetic") is True or part.get("ignored") is True
