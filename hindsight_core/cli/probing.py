"""Talks to what a host would start, line by line, as the host would."""

from __future__ import annotations

import json
import subprocess
import threading
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from hindsight_core.errors import ProviderError

ANSWER_S = 30.0
LEAVE_S = 15.0
SESSION = "doctor"
Params = dict[str, Any]


class Started:
    """One process that speaks JSON-RPC, an object a line; use it as a context manager.

    Args:
        command: Its argv.
        env: Its environment.
    """

    def __init__(self, command: Sequence[str], *, env: Mapping[str, str]) -> None:
        self._command = command
        self._env = dict(env)
        self._next = 0

    def __enter__(self) -> Self:
        """Start it."""
        try:
            self._process = subprocess.Popen(  # noqa: S603 (our own command)
                self._command,
                env=self._env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            raise ProviderError(f"cannot be started: {error.strerror or error}") from error
        return self

    def __exit__(self, *_: object) -> None:
        """Let it end by itself, then no longer."""
        try:
            self._process.communicate(timeout=LEAVE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()

    def tell(self, method: str, params: Params) -> None:
        """Send a notification."""
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def ask(self, method: str, params: Params) -> Params:
        """Send a request; its result.

        Raises:
            ProviderError: It answered with an error, not at all, or is gone.
        """
        self._next += 1
        message = {"jsonrpc": "2.0", "id": self._next, "method": method, "params": params}
        late = threading.Timer(ANSWER_S, self._process.kill)
        late.start()
        try:
            self._send(message)
            reply = self._reply(self._next)
        finally:
            late.cancel()
        if "error" in reply:
            raise ProviderError(f"{method}: {reply['error'].get('message')}")
        result: Params = reply.get("result") or {}
        return result

    def _send(self, message: Params) -> None:
        # One that is gone says so when its answer is read.
        with suppress(OSError):
            assert self._process.stdin is not None  # noqa: S101 (it is a pipe)
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()

    def _reply(self, number: int) -> Params:
        assert self._process.stdout is not None  # noqa: S101 (it is a pipe)
        while line := self._process.stdout.readline():
            try:
                message = json.loads(line)
            except ValueError:
                raise ProviderError(f"it printed what is no answer: {line[:80]!r}") from None
            if isinstance(message, dict) and message.get("id") == number:
                return message
        assert self._process.stderr is not None  # noqa: S101 (it is a pipe)
        said = self._process.stderr.read().decode(errors="replace").strip()
        last = said.splitlines()[-1] if said else "without a word"
        raise ProviderError(f"it ended, or gave no answer within {ANSWER_S:g} s: {last}")


class Bridge(Started):
    """``hindsight-mem bridge``, as a shim starts it."""

    def open(self) -> str | None:
        """Begin; None when memory is active, else why it is not."""
        session = {"id": f"{SESSION}-{uuid.uuid4().hex[:12]}"}
        params = {"protocol": 1, "cwd": str(Path.cwd()), "session": session}
        result = self.ask("initialize", params)
        active = result["state"] in ("active", "tools-only")
        return None if active else f"memory is {result['state']} here: {result.get('reason')}"

    def call(self, tool: str, arguments: Params) -> tuple[str, bool, Params]:
        """Call a tool: its text, whether it failed, its details."""
        result = self.ask("tool/call", {"name": tool, "arguments": arguments})
        return result["content"], result["isError"], result.get("details") or {}


class Mcp(Started):
    """``hindsight-mem mcp``, as an MCP client starts it."""

    def open(self) -> str | None:
        """Begin; None when tools are offered, else why they are not."""
        client = {"name": SESSION, "version": "1"}
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        self.ask("initialize", params)
        self.tell("notifications/initialized", {})
        listed = self.ask("tools/list", {})
        if listed.get("tools"):
            return None
        text, _, _ = self.call("hindsight_recall", {"query": SESSION})
        return text

    def call(self, tool: str, arguments: Params) -> tuple[str, bool, Params]:
        """Call a tool: its text, whether it failed, its details."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        text = "\n".join(part.get("text", "") for part in result.get("content", []))
        details = (result.get("_meta") or {}).get("hindsight/details") or {}
        return text, bool(result.get("isError")), details
