"""``hindsight-mem bridge``: the engine on stdin and stdout, for one host process."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, BinaryIO

from hindsight_core.bridge.engines import Engines
from hindsight_core.bridge.panels import panel_methods
from hindsight_core.bridge.peer import Handler, Peer
from hindsight_core.bridge.records import RpcError
from hindsight_core.engine.core import MemoryEngine
from hindsight_core.errors import ProviderError
from hindsight_core.host import ManySessionsHost

if TYPE_CHECKING:
    from hindsight_core.host import Host, HostAdapter
    from hindsight_core.services import BridgeAccess

HOST_TIMEOUT_S = 120.0
logger = logging.getLogger("hindsight_core.bridge")


class HostBridge:
    """Requests to the host; its failures are those of a provider."""

    def __init__(
        self, peer: Peer, capabilities: frozenset[str], adapter: HostAdapter | None
    ) -> None:
        self._peer = peer
        self._adapter = adapter
        self.capabilities = capabilities

    async def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Ask the host; raises `ProviderError` when it fails, is slow or is gone."""
        try:
            result = await self._peer.request(method, params, timeout_s=HOST_TIMEOUT_S)
        except RpcError as error:
            raise ProviderError(f"{method}: the host said: {error}") from error
        except TimeoutError as error:
            raise ProviderError(f"{method}: no answer within {HOST_TIMEOUT_S:g} s") from error
        if not isinstance(result, dict):
            raise ProviderError(f"{method}: the host's answer is no object", retryable=False)
        return self._adapter.answer(method, result) if self._adapter else result


class BridgeServer:
    """Wires one peer to one engine and one host adapter.

    Args:
        host: The host's name.
        host_object: The host's entry point, or None for canonical requests only.
        env: The environment, for configuration.
        peer_factory: Makes the connection that answers with the given methods.
    """

    def __init__(
        self,
        *,
        host: str,
        host_object: Host | None,
        env: Mapping[str, str],
        peer_factory: Callable[[dict[str, Handler]], Peer],
    ) -> None:
        self.engine = MemoryEngine(host=host, env=env, outlet=self)
        self._engines = Engines(lambda out: MemoryEngine(host=host, env=env, outlet=out), self)
        self.adapter: HostAdapter | None = self._adapter(host_object)
        if self.adapter is not None:
            self.engine.lower_limits(self.adapter.limits)
        self._speaking: HostAdapter | None = None
        self.peer: Peer = peer_factory(self._methods())

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """To the host."""
        self.peer.notify(method, params)

    def bridge(self, capabilities: frozenset[str]) -> BridgeAccess:
        """Requests to the host."""
        return HostBridge(self.peer, capabilities, self._speaking)

    async def serve(self) -> None:
        """Until the host closes stdin or asks to shut down."""
        try:
            await self.peer.serve()
        finally:
            await self.peer.settle(timeout_s=self.engine.limits.turn_end_ms / 1000)
            await self._close()

    async def _close(self) -> None:
        await asyncio.gather(self.engine.close(), self._engines.close())

    def _adapter(self, host: Host | None) -> HostAdapter | None:
        if isinstance(host, ManySessionsHost):
            return host.adapter_of_many(self._another)
        return host.adapter(self.engine) if host else None

    def _another(self) -> MemoryEngine:
        engine = self._engines.another()
        if self.adapter is not None:
            engine.lower_limits(self.adapter.limits)
        return engine

    def _methods(self) -> dict[str, Handler]:
        return {
            **self.engine.methods,
            "event": self._event,
            **panel_methods(self.engine, self.notify),
            "shutdown": self._shutdown,
        }

    async def _event(self, params: dict[str, Any]) -> dict[str, Any]:
        name, payload = params.get("name"), params.get("payload")
        if self.adapter is None or not isinstance(name, str):
            return {"actions": []}
        # From here on the host's answers are in its own form too.
        self._speaking = self.adapter
        try:
            actions = await self.adapter.event(name, payload if isinstance(payload, dict) else {})
        except Exception:
            # A payload that the adapter does not understand is no reason to stop the host.
            logger.exception("event %s failed", name)
            return {"actions": []}
        return {"actions": list(actions)}

    async def _shutdown(self, params: dict[str, Any]) -> dict[str, Any]:
        await self._close()
        # The reply must leave before the read loop ends.
        asyncio.get_running_loop().call_soon(self._stop)
        return {}

    def _stop(self) -> None:
        self.peer.stop()


async def run(*, host: str, host_object: Host | None, env: Mapping[str, str]) -> None:
    """Serve stdin and stdout until the host is gone."""
    reader = _Stdin(asyncio.get_running_loop())
    out = _own_stdout()

    def write(data: bytes) -> None:
        out.write(data)
        out.flush()

    server = BridgeServer(
        host=host,
        host_object=host_object,
        env=env,
        peer_factory=lambda methods: Peer(read=reader, write=write, methods=methods),
    )
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGHUP):
        with suppress(NotImplementedError, RuntimeError):
            loop.add_signal_handler(name, reader.end)
    await server.serve()


def _own_stdout() -> BinaryIO:
    """The protocol's stream; all other output, of plugins and of C libraries, goes to stderr."""
    sys.stdout.flush()
    ours = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return ours


class _Stdin:
    """Lines of stdin from a thread of its own: no limit on a line's length, any kind of stdin."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._lines: asyncio.Queue[bytes] = asyncio.Queue()
        threading.Thread(target=self._pump, name="stdin", daemon=True).start()

    async def readline(self) -> bytes:
        return await self._lines.get()

    def end(self) -> None:
        """As if the host had closed stdin."""
        self._lines.put_nowait(b"")

    def _pump(self) -> None:
        # RuntimeError: the loop is closed already.
        with suppress(RuntimeError, ValueError, OSError):
            stdin = os.fdopen(0, "rb", closefd=False)
            while line := stdin.readline():
                self._loop.call_soon_threadsafe(self._lines.put_nowait, line)
            self._loop.call_soon_threadsafe(self._lines.put_nowait, b"")
