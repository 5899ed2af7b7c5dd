"""All sessions of one opencode process: each agent's bank gets an engine of its own."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from hindsight_core.host import EngineApi
from hindsight_host_opencode.session import BankSession

Json = dict[str, Any]
LIVE = 32


@dataclass
class Instance:
    """One plugin instance: opencode makes one for each directory.

    Attributes:
        directory: The directory, which identifies it.
        config: The plugin's options with the agents' blocks, as ``initialize.config``.
        cwd: Where its sessions work.
    """

    directory: str
    config: Json = field(default_factory=dict)
    cwd: str = ""


class Sessions:
    """Engines by session and agent, at most `LIVE` sessions at once.

    A session keeps its bank. Another agent that speaks in it and has the same bank shares its
    engine; one with another bank gets its own, so that no turn lands in a bank of another agent.

    Args:
        engines: Makes an engine.
    """

    def __init__(self, engines: Callable[[], EngineApi]) -> None:
        self._engines = engines
        self._live: OrderedDict[str, dict[str | None, BankSession]] = OrderedDict()
        self._homes: dict[str, str] = {}
        self._gates: dict[str, asyncio.Lock] = {}

    def of(self, session_id: str) -> list[BankSession]:
        """The engines of a session, each once; none when it has not spoken here."""
        found = self._live.get(session_id, {})
        return list(dict.fromkeys(found.values()))

    async def get(
        self, instance: Instance, info: Json, agent: str | None, *, is_new: bool = False
    ) -> BankSession:
        """The engine of a session and agent, opened when it is not yet."""
        session_id = str(info["id"])
        async with self._gates.setdefault(session_id, asyncio.Lock()):
            by_agent = self._live.setdefault(session_id, {})
            self._live.move_to_end(session_id)
            self._homes[session_id] = instance.directory
            if agent not in by_agent:
                by_agent[agent] = await self._open(instance, info, agent, is_new=is_new)
        await self._make_room()
        return by_agent[agent]

    async def end(self, session_id: str, reason: str) -> None:
        """Close one session's engines."""
        self._gates.pop(session_id, None)
        self._homes.pop(session_id, None)
        by_agent = self._live.pop(session_id, {})
        await asyncio.gather(*(one.end(reason) for one in dict.fromkeys(by_agent.values())))

    async def end_all(self, reason: str, *, directory: str) -> None:
        """Close the sessions of a directory."""
        there = [name for name, home in self._homes.items() if home == directory]
        await asyncio.gather(*(self.end(session_id, reason) for session_id in there))

    def all(self) -> Iterable[BankSession]:
        """Every open one."""
        return [one for session_id in self._live for one in self.of(session_id)]

    async def _open(
        self, instance: Instance, info: Json, agent: str | None, *, is_new: bool
    ) -> BankSession:
        session_id = str(info["id"])
        others = self.of(session_id)
        opened = BankSession(self._engines(), session_id)
        config, cwd = instance.config, instance.cwd
        await opened.open(info, agent=agent, config=config, cwd=cwd, is_new=is_new)
        for other in others:
            if other.bank is not None and other.bank == opened.bank:
                await opened.end("reload")
                other.agents |= opened.agents
                return other
        return opened

    async def _make_room(self) -> None:
        while len(self._live) > LIVE:
            oldest = next(iter(self._live))
            await self.end(oldest, "reload")
