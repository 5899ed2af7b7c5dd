"""The generic adapter keeps the rules of every host."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from hindsight_host_generic import GenericAdapter
from hindsight_host_generic import host as generic_host

from hindsight_core.testing.hosts import FakeEngine, HostContract


class GenericDriver:
    """An agent that sends canonical requests and keeps blocks in its transcript."""

    def __init__(self) -> None:
        self.engine = FakeEngine()
        self.adapter = GenericAdapter(self.engine)
        self.entries: list[dict[str, Any]] = []
        self.kept: list[str] = []

    async def start(self, session_id: str) -> None:
        await self._call(
            "initialize",
            cwd="/work",
            session={"id": session_id},
            capabilities={"blocks": "persist"},
        )
        await self._call("session/start", reason="startup", entries=[])

    async def ask(self, prompt: str) -> list[str]:
        turn = f"t{len(self.entries)}"
        entries = list(self.entries)
        result = await self._call("turn/start", turnId=turn, prompt=prompt, entries=entries)
        self._add("user", prompt)
        self.kept += [given["text"] for given in result["blocks"]]
        return list(self.kept)

    async def again(self) -> list[str]:
        await self._call("turn/progress", turnId="t", entries=list(self.entries))
        return list(self.kept)

    async def done(self) -> None:
        self._add("assistant", "Done.")
        await self._call("turn/end", turnId="t", entries=list(self.entries), aborted=False)

    async def give_up(self, prompt: str) -> None:
        asking = asyncio.create_task(self.ask(prompt))
        await asyncio.sleep(0)
        asking.cancel()
        with suppress(asyncio.CancelledError):
            await asking

    async def compact(self) -> None:
        await self._call("compact/before", entries=list(self.entries), reason="manual")
        self.kept.clear()
        await self._call("compact/after")

    async def quit(self) -> None:
        await self._call("session/end", reason="quit")

    async def _call(self, method: str, **params: object) -> Any:
        (action,) = await self.adapter.event(method, params)
        assert (action["type"], action["method"]) == ("result", method)
        return action["result"]

    def _add(self, role: str, text: str) -> None:
        parts = [{"type": "text", "text": text}]
        self.entries.append({"id": f"e{len(self.entries)}", "role": role, "parts": parts})


class TestGeneric(HostContract):
    @pytest.fixture
    def driver(self) -> GenericDriver:
        return GenericDriver()

    @pytest.fixture
    def host(self) -> object:
        return generic_host
