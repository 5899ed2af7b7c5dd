"""One MCP client's memory: the engine, opened for the folder that the client works in."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hindsight_core.engine.core import MemoryEngine
from hindsight_core.errors import ProviderError

if TYPE_CHECKING:
    from hindsight_core.services import BridgeAccess

Params = dict[str, Any]
Roots = Callable[[], Awaitable[Sequence[Path]]]
logger = logging.getLogger("hindsight_core.mcp")


class NoHost:
    """An MCP client offers nothing that the engine could ask for."""

    capabilities: frozenset[str] = frozenset()

    async def request(self, method: str, params: Params) -> Params:
        """Always fails: nobody answers."""
        raise ProviderError(f"{method}: an MCP client cannot be asked", retryable=False)


class LogOutlet:
    """Notices go to the log: an MCP client has no place for them."""

    def notify(self, method: str, params: Params) -> None:
        """Write it down."""
        logger.info("%s %s", method, params)

    def bridge(self, capabilities: frozenset[str]) -> BridgeAccess:
        """Nobody to ask."""
        return NoHost()


class ToolSession:
    """The engine behind the tools; opened when the first request needs it.

    Where no bank is declared the project's own is used (protocol.md): who has wired the server
    has asked for memory.

    Args:
        host: The agent program, where the wiring names it.
        env: The environment, for configuration.
        cwd: The folder that the server was started in.
        roots: The client's own folders, asked only when ``cwd`` is no project.
    """

    def __init__(self, *, host: str, env: Mapping[str, str], cwd: Path, roots: Roots) -> None:
        self._engine = MemoryEngine(host=host, env=env, outlet=LogOutlet())
        self._host = host
        self._env = env
        self._cwd = cwd
        self._roots = roots
        self._id = f"mcp-{uuid.uuid4().hex}"
        self._lock = asyncio.Lock()
        self._opened: Params | None = None

    async def tools(self) -> list[Params]:
        """Name, description and parameters of each tool; none while memory is off."""
        tools: list[Params] = (await self._open())["tools"]
        return tools

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Params:
        """``tool/call``; calls run side by side."""
        await self._open()
        return await self._engine.call("tool/call", {"name": name, "arguments": dict(arguments)})

    async def close(self) -> None:
        """The client is gone: what is left stays durable."""
        await self._engine.close()

    async def _open(self) -> Params:
        async with self._lock:
            if self._opened is None:
                self._opened = await self._initialize()
            return self._opened

    async def _initialize(self) -> Params:
        cwd = self._cwd
        is_project, undeclared = await asyncio.to_thread(self._bank_of, cwd)
        if not is_project:
            for root in await self._roots():
                is_project, wanted = await asyncio.to_thread(self._bank_of, root)
                if is_project:
                    cwd, undeclared = root, wanted
                    break
        opened = await self._engine.initialize(
            {
                "protocol": 1,
                "cwd": str(cwd),
                "session": {"id": self._id},
                "config": {"bank": {"id": "auto"}} if undeclared else {},
            }
        )
        for warning in opened["warnings"]:
            logger.warning("%s", warning)
        logger.info("%s in %s: %s", opened["state"], cwd, opened.get("reason"))
        return opened

    def _bank_of(self, folder: Path) -> tuple[bool, bool]:
        """Whether a folder has a bank, and whether nobody has said which."""
        from hindsight_core.configure import configure

        try:
            loaded, _ = configure(cwd=folder, env=self._env, host=self._host)
        except Exception:
            # `initialize` meets it again and says what is wrong.
            return True, False
        return loaded.bank.id is not None, loaded.bank.declared_as is None
