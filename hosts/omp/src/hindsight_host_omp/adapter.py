"""What omp says of its sessions, and the events that only omp has."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import PurePath

from hindsight_core.extension_host.adapter import Action, ExtensionAdapter, Payload
from hindsight_core.host import READ_TOOLS, Limits
from hindsight_host_omp.places import agent_dir

PRINT_MODES = ("print", "json")
# With all that comes before it in the same handler it is inside omp's cut.
PRINT_END_MS = 10_000


class OmpAdapter(ExtensionAdapter):
    """One session of an omp process, and those that follow it in the same process.

    omp keeps an extension when the session changes: it says so before and after. It cuts a handler
    after 30 s, at its end after 2 s, and no event of it carries the signal of the user's abort.
    """

    name = "omp"
    limits = Limits(turn_start_ms=28_000, session_end_ms=500)
    _is_child = False

    def own_handlers(self) -> Mapping[str, Callable[[Payload], Awaitable[list[Action]]]]:
        """A session is left for another one, or for a branch of itself."""
        return {
            "session_before_switch": self.session_shutdown,
            "session_switch": self.session_start,
            "session_before_branch": lambda p: self.session_shutdown({**p, "reason": "fork"}),
            "session_branch": lambda p: self.session_start({**p, "reason": "fork"}),
        }

    def session(self, payload: Payload) -> Payload:
        """``initialize.session``.

        Not ``trusted``: omp asks nobody about a project, and says of each that it is trusted.
        """
        session = payload.get("session") or {}
        self._is_child = _parent(session) is not None
        told = {
            "id": session.get("id"),
            "file": session.get("file"),
            "ephemeral": bool(session.get("ephemeral") or session.get("onlyTools")),
            "parentId": _parent(session),
            "otherMemory": _own_memory(session),
        }
        return {name: value for name, value in told.items() if value is not None}

    def reason(self, payload: Payload) -> str | None:
        """Of its first session omp says nothing: one with words in it is continued."""
        said = [record for record in payload.get("entries") or [] if _is_message(record)]
        return super().reason(payload) or ("resume" if said else "startup")

    def instructions(self) -> Sequence[str]:
        """The file in which omp's user writes what holds in every project."""
        return (str(agent_dir(os.environ) / "AGENTS.md"),)

    def end_after(self, payload: Payload) -> int | None:
        """Where nobody types, the turn is the session: omp waits for it longer than for its end."""
        return PRINT_END_MS if payload.get("mode") in PRINT_MODES and not self._is_child else None

    def tool(self, tool: Payload) -> Payload:
        """With its tier: omp may ask the user before a tool writes."""
        return {**tool, "approval": "read" if tool.get("name") in READ_TOOLS else "write"}


def _is_message(record: object) -> bool:
    return isinstance(record, dict) and record.get("type") == "message"


def _parent(session: Payload) -> str | None:
    """The session that a sub-agent works for: its file lies in the folder of that one's files.

    A branch names the session that it comes from in the same field, and is no sub-agent.
    """
    parent, file = session.get("parent"), session.get("file")
    if not isinstance(parent, str) or not isinstance(file, str):
        return None
    return parent if PurePath(file).parent == PurePath(parent).with_suffix("") else None


def _own_memory(session: Payload) -> str | None:
    """The memory of omp itself, unless it is off."""
    status = session.get("memory")
    backend = status.get("backend") if isinstance(status, dict) else None
    if not isinstance(backend, str) or backend in ("", "off"):
        return None
    return f"omp's own memory (memory.backend: {backend})"
