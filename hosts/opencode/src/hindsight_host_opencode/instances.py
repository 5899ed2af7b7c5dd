"""Plugin instances: what the host gave each, and what memory does for its agents."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hindsight_core.host import EngineApi
from hindsight_host_opencode.session import CAPABILITIES
from hindsight_host_opencode.sessions import Instance

Payload = dict[str, Any]
Action = dict[str, Any]
WORKS = ("active", "tools-only")


class Instances:
    """The instances of one opencode process.

    Args:
        engines: Makes an engine; one is asked, and closed again, what it would do.
    """

    def __init__(self, engines: Callable[[], EngineApi]) -> None:
        self._engines = engines
        self._known: dict[str, Instance] = {}
        self._told: set[str] = set()

    def of(self, payload: Payload) -> Instance | None:
        """The instance that an event comes from; the directory identifies it."""
        directory = payload.get("directory")
        if not isinstance(directory, str) or not directory:
            return None
        return self._known.setdefault(directory, Instance(directory, cwd=directory))

    def forget(self, directory: str) -> None:
        """An instance was disposed of."""
        self._known.pop(directory, None)

    async def configure(self, payload: Payload) -> list[Action]:
        """What the host's configuration says; whether any agent has memory, and its tools."""
        instance = self.of(payload)
        if instance is None:
            return []
        instance.cwd = _root(payload) or instance.directory
        instance.config = _options(payload)
        agents = instance.config.get("agents") or {}
        opened: Payload = {}
        lines: list[str] = []
        for agent in (*agents, None):
            opened = await self._ask(instance, agent)
            lines += opened["warnings"]
            if opened["state"] in WORKS:
                break
            if agent is None or opened["state"] == "dormant":
                who = f"agent {agent}: " if agent else ""
                lines.append(f"{who}memory is {opened['state']}: {opened.get('reason')}")
        works = opened["state"] in WORKS
        actions: list[Action] = [
            {"type": "log", "level": "warn" if works else "error", "text": line}
            for line in dict.fromkeys(lines)
            if not self._was_told(line)
        ]
        if not works:
            return [*actions[-1:], {"type": "off"}]
        return [
            *actions,
            {"type": "limits", "limits": opened["limits"]},
            {"type": "tools", "tools": opened["tools"]},
        ]

    async def _ask(self, instance: Instance, agent: str | None) -> Payload:
        engine = self._engines()
        session = {"id": f"instance-{uuid.uuid4().hex[:12]}", "ephemeral": True}
        opened = await engine.call(
            "initialize",
            {
                "protocol": 1,
                "cwd": instance.cwd,
                "session": session | ({"agent": agent} if agent else {}),
                "config": instance.config,
                "capabilities": CAPABILITIES,
            },
        )
        await engine.call("session/end", {"reason": "reload"})
        return opened

    def _was_told(self, line: str) -> bool:
        told = line in self._told
        self._told.add(line)
        return told


def _options(payload: Payload) -> Payload:
    options, agents = payload.get("options"), payload.get("agents")
    found = dict(options) if isinstance(options, dict) else {}
    given = found.get("agents")
    blocks = dict(given) if isinstance(given, dict) else {}
    if isinstance(agents, dict):
        blocks |= {name: block for name, block in agents.items() if isinstance(block, dict)}
    return found | {"agents": blocks} if blocks else found


def _root(payload: Payload) -> str | None:
    """The worktree; the directory where there is none (oc/O-EV-14)."""
    worktree = payload.get("worktree")
    if isinstance(worktree, str) and worktree and Path(worktree) != Path(worktree).parent:
        return worktree
    return None
