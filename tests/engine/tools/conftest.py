"""Sessions whose agent has every tool, over the embedded bank and over a scripted server."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from hindsight_core import hookimpl
from hindsight_core.banks.hindsight import HindsightBank
from hindsight_core.engine import explicit
from hindsight_core.testing.clock import FakeClock
from hindsight_core.testing.session import live_session


class Agent:
    """An agent in a live session: it calls tools, a person runs commands."""

    def __init__(self, memory: Any) -> None:
        self.memory = memory
        self.live = live_session(memory.runtime, session_id="s1")

    def call(self, name: str, /, **arguments: object) -> dict[str, Any]:
        """What ``tool/call`` answers."""
        params = {"name": f"hindsight_{name}", "arguments": arguments}
        return self.memory.run(explicit.tool(self.live, params, why_off=""))

    def told(self, name: str, /, **arguments: object) -> Any:
        """The JSON object that a tool answers with."""
        return json.loads(self.call(name, **arguments)["content"])

    def command(self, line: str) -> Any:
        name, _, arguments = line.lstrip("/").partition(" ")
        return self.memory.run(self.live.commands.run(name, arguments))

    @property
    def tools(self) -> dict[str, Any]:
        """Schema of each tool that the agent is offered."""
        return {tool["name"]: tool["parameters"] for tool in self.live.tools.describe()}


class Server:
    """The calls that these tools make of a Hindsight server; the rest is an empty bank's."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, Any]] = []
        self.version = "1.1.0"
        self.down = False
        self.config = {"overrides": {"retain_mission": "Keep decisions."}}
        self.models = [{"id": "m1", "name": "Stack", "source_query": "the stack?", "content": "Go"}]
        self.results: list[dict[str, Any]] = []

    def bodies(self, path: str) -> list[Any]:
        return [body for _, name, body in self.asked if name.endswith(path)]

    def __call__(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content) if request.content else None
        path = request.url.path.removeprefix("/v1/default/banks/shop")
        self.asked.append((request.method, path, body))
        if self.down:
            return httpx.Response(503, json={"detail": "down for maintenance"})
        return httpx.Response(200, json=self._answer(request.method, path))

    def _answer(self, method: str, path: str) -> object:
        if path.startswith("/mental-models/"):
            return self.models[0]
        if path.startswith("/operations/"):
            return {"status": "completed"}
        known: dict[str, object] = {
            "/version": {"api_version": self.version, "features": {"bank_config_api": True}},
            "/health": {"status": "healthy"},
            "/config": self.config,
            "/stats": {"total_nodes": 5, "total_documents": 2, "nodes_by_fact_type": {"world": 5}},
            "/mental-models": {"items": self.models},
            "/memories/recall": {"results": self.results},
            "/reflect": {"text": "PostgreSQL.", "based_on": {"memories": [{"id": "f1"}]}},
            "/memories": {"success": True, "operation_id": None},
            "/memories/list": {"items": [], "total": 0},
        }
        return known.get(path, {})


class ServerBank:
    """Registers the scripted server as a bank backend."""

    def __init__(self, server: Server, side: Any) -> None:
        self.server = server
        self.side = side

    @hookimpl
    def hindsight_register_banks(self, register: Any) -> None:
        register("scripted", self._make)

    def _make(self, settings: Any, services: Any) -> HindsightBank:
        return HindsightBank(
            "shop",
            settings,
            side=self.side,
            clock=services.clock,
            transport=httpx.MockTransport(self.server),
        )


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def agent(new_memory: Any) -> Callable[..., Agent]:
    """An agent under profile s1enhanced; sections of settings on top of it."""

    def make(**sections: Any) -> Agent:
        return Agent(new_memory(settings={"profile": "s1enhanced", **sections}))

    return make


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(datetime(2030, 3, 4, 9, 30, tzinfo=UTC))


@pytest.fixture
def served(
    new_memory: Any, server: Server, clock: FakeClock, tmp_path: Any
) -> Callable[..., Agent]:
    """The same over the scripted server."""

    def make(**sections: Any) -> Agent:
        settings = {"profile": "s1enhanced", **sections}
        settings["bank"] = {"id": "shop", "backend": "scripted", **sections.get("bank", {})}
        plugin = ServerBank(server, tmp_path / "side.hindsight")
        return Agent(new_memory(plugin, settings=settings, clock=clock))

    return make
