"""Plays opencode for the adapter's tests."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hindsight_host_opencode.adapter import OpencodeAdapter

from hindsight_core.testing.hosts import FakeEngine

Json = dict[str, Any]


class Opencode:
    """Sends what the shim sends, for one plugin instance; each session has an engine.

    Attributes:
        engine: The engine of the last session that was opened.
        engines: All of them, oldest first.
    """

    directory = "/srv/project"

    def __init__(self) -> None:
        self.engines: list[FakeEngine] = []
        self.engine = FakeEngine()
        self.adapter = OpencodeAdapter(self._another)
        self.listed: dict[str, list[Json]] = {}
        self.current = ""
        self._next: FakeEngine | None = self.engine
        self._clock = 1_700_000_000_000

    def _another(self) -> FakeEngine:
        engine, self._next = self._next or FakeEngine(), None
        self.engines.append(engine)
        return engine

    async def start(self, session_id: str, *, agent: str = "build", parent: str = "") -> None:
        """A session is created."""
        self.current = session_id
        self.listed[session_id] = []
        info = {"id": session_id, "directory": self.directory, "agent": agent}
        if parent:
            info["parentID"] = parent
        self.info = info
        await self.send("session.created", session=info)

    async def ask(self, prompt: str, *, agent: str = "build") -> list[str]:
        """A prompt and its first request."""
        await self.prompt(prompt, agent=agent)
        return await self.request()

    async def again(self) -> list[str]:
        """A tool was called; the next request."""
        self.message("assistant", "Calling a tool.")
        return await self.request()

    async def done(self) -> None:
        """The session is idle."""
        self.message("assistant", "Done.")
        await self.idle()

    async def idle(self) -> None:
        """The event itself, with what the host lists."""
        await self.send("session.idle", session=self.info, messages=self.messages)

    async def give_up(self, prompt: str) -> None:
        """Aborted while memory looks: the session is idle at once."""
        await self.prompt(prompt)
        waiting = asyncio.create_task(self.request())
        await asyncio.sleep(0)
        await self.idle()
        assert await waiting == []

    async def compact(self) -> list[Json]:
        """opencode compacts, and has compacted; what memory adds to the compaction."""
        actions = await self.send(
            "experimental.session.compacting", session=self.info, messages=self.messages
        )
        self.message("user", None, {"type": "compaction", "auto": False})
        self.message("assistant", "What was said.", summary=True, agent="compaction")
        await self.send("session.compacted", sessionID=self.current)
        return actions

    async def quit(self) -> None:
        """The instance is disposed of."""
        await self.send("dispose")

    @property
    def messages(self) -> list[Json]:
        """What the host lists of the session."""
        return self.listed[self.current]

    async def send(self, name: str, **payload: object) -> list[Json]:
        """One event."""
        return list(await self.adapter.event(name, {"directory": self.directory, **payload}))

    async def prompt(self, text: str, *, agent: str = "build") -> None:
        """The hook before a message is stored."""
        message = self.message("user", text, agent=agent)
        await self.send(
            "chat.message", session=self.info, message=message["info"], parts=message["parts"]
        )

    async def request(self) -> list[str]:
        """The hooks before a request to the model; memory's texts in it, in their order."""
        listed = [{"role": m["info"]["role"], "id": m["info"]["id"]} for m in self.messages]
        summaries = [m["info"].get("summary") is True for m in self.messages]
        if True in summaries:
            listed = listed[len(summaries) - 1 - summaries[::-1].index(True) :]
        inserts = await self.send(
            "experimental.chat.messages.transform", sessionID=self.current, messages=listed
        )
        places = [one["id"] for one in listed]
        inserts.sort(key=lambda one: places.index(one["message"]))
        system = await self.send("experimental.chat.system.transform", sessionID=self.current)
        return [one["text"] for one in (*system, *inserts)]

    def message(self, role: str, text: str | None, *parts: Json, **info: object) -> Json:
        """One more message of the session."""
        self._clock += 1_000
        listed = self.messages
        own = {"id": f"msg_{len(listed):03}", "role": role, "time": {"created": self._clock}}
        said = [] if text is None else [{"type": "text", "text": text}]
        message = {"info": {"agent": "build", **own, **info}, "parts": [*said, *parts]}
        listed.append(message)
        return message


@pytest.fixture
def driver() -> Opencode:
    """opencode, with nothing open."""
    return Opencode()
