"""For tests of a declared agent: plays the agent program for the contract of every host."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from hindsight_core.host_hooks import HookSession
from hindsight_core.testing.host_engine import FakeEngine
from hindsight_host_generic.adapter import AgentAdapter
from hindsight_host_generic.agents import Agent
from hindsight_host_generic.agents.base import Kind

__all__ = ["HookDriver"]


class HookDriver:
    """Implements `hindsight_core.testing.hosts.HostDriver` for any `Agent`.

    It sends the agent's own events with the agent's own field names, and keeps what the replies
    put before the model, as an agent's transcript does.

    Args:
        agent: The agent under test.
        folder: Where its sessions work.
    """

    def __init__(self, agent: Agent, folder: Path) -> None:
        self.engine = FakeEngine()
        self._agent = agent
        self._folder = folder
        self._memo: dict[str, Any] = {}
        self._kept: list[str] = []
        self._adapt("s-1")

    async def start(self, session_id: str) -> None:
        """A session begins."""
        self._adapt(session_id)
        await self._hook("session_start")

    async def ask(self, prompt: str) -> list[str]:
        """The user says something; memory's texts in the first request to the model."""
        reply = await self._hook("prompt", prompt=prompt)
        self._kept += [text for text in _texts(reply) if "<hindsight-memory" in text]
        return list(self._kept)

    async def again(self) -> list[str]:
        """Memory's texts in the next request of the same turn."""
        return list(self._kept)

    async def done(self) -> None:
        """The turn ends."""
        await self._hook("turn_end", reply="Done.")

    async def give_up(self, prompt: str) -> None:
        """The user says something and aborts it before the first request is answered."""
        asking = asyncio.create_task(self.ask(prompt))
        while "turn/start" not in [method for method, _ in self.engine.calls]:
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        asking.cancel()
        with suppress(asyncio.CancelledError):
            await asking

    async def compact(self) -> None:
        """The agent compacts, and has compacted: by its own event, or by a new session start."""
        await self._hook("compact_before")
        self._kept.clear()
        again = next((name for name, ours in self._agent.starts.items() if ours == "compact"), None)
        if self._named("compact_after"):
            await self._hook("compact_after")
        elif again is not None:
            await self._hook("session_start", source=again)

    async def quit(self) -> None:
        """The session ends because the user quits."""
        await self._hook("session_end")

    def _adapt(self, session_id: str) -> None:
        self._session = session_id
        session = HookSession(session_id, str(self._folder))
        self.adapter = AgentAdapter(self.engine, self._agent, session, self._memo)

    async def _hook(self, kind: Kind, **said: str) -> Mapping[str, Any]:
        event = self._named(kind)
        if event is None:
            raise AssertionError(f"{self._agent.name} has no event of the kind {kind}")
        fields = self._agent.fields
        payload = {fields.session[0]: self._session, fields.cwd[0]: str(self._folder)}
        payload |= {getattr(fields, name)[0]: text for name, text in said.items()}
        actions = list(await self.adapter.event(event, payload))
        await self.adapter.settle()
        reply: Mapping[str, Any] = next(a["reply"] for a in actions if a["type"] == "reply")
        return reply

    def _named(self, kind: Kind) -> str | None:
        return next((event.name for event in self._agent.events if event.kind == kind), None)


def _texts(value: object) -> list[str]:
    """Every text in a reply, whatever its form."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for item in value.values() for text in _texts(item)]
    return []
