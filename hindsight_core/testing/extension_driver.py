"""Plays a host of pi's kind: sends its adapter what the extension sends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from hindsight_core.extension_host.adapter import ExtensionAdapter
from hindsight_core.host import EngineApi
from hindsight_core.testing.host_engine import FakeEngine


class ExtensionDriver:
    """A `HostDriver` over a session of its own.

    Args:
        adapter: Makes the adapter under test.

    Attributes:
        records: The session's records, as the host keeps them.
        request: The messages of the next request to the model.
    """

    def __init__(self, adapter: Callable[[EngineApi], ExtensionAdapter]) -> None:
        self.engine = FakeEngine()
        self.adapter = adapter(self.engine)
        self.records: list[dict[str, Any]] = []
        self.request: list[dict[str, Any]] = []
        self.sent: str | None = None
        self.clock = 0

    async def start(self, session_id: str) -> None:
        """A session begins."""
        session = {"id": session_id, "file": "/s.jsonl", "trusted": True, "ephemeral": False}
        payload = {"reason": "startup", "cwd": "/work", "session": session, **self.delta()}
        await self.adapter.event("session_start", payload)

    async def ask(self, prompt: str) -> list[str]:
        """The user says something; memory's texts in the first request to the model."""
        await self._prompt(prompt)
        return await self._context()

    async def again(self) -> list[str]:
        """Memory's texts in the next request of the same turn."""
        self._message("assistant", "calling a tool")
        return await self._context()

    async def done(self) -> None:
        """The turn ends."""
        self._message("assistant", "Done.")
        await self.adapter.event("agent_end", {"aborted": False, **self.delta()})

    async def give_up(self, prompt: str) -> None:
        """The user aborts while the recall is awaited."""
        await self._prompt(prompt)
        waiting = asyncio.create_task(self._context())
        await asyncio.sleep(0)
        waiting.cancel()
        with suppress(asyncio.CancelledError):
            await waiting

    async def compact(self) -> None:
        """The host compacts, and has compacted."""
        kept = self.records[-1]["id"] if self.records else "none"
        payload = {"firstKeptEntryId": kept, "reason": "manual", **self.delta()}
        await self.adapter.event("session_before_compact", payload)
        self.record("compaction", summary="What was said.")
        self.request = self.request[-1:]
        await self.adapter.event("session_compact", self.delta())

    async def quit(self) -> None:
        """The session ends because the user quits."""
        await self.adapter.event("session_shutdown", {"reason": "quit", **self.delta()})

    def record(self, kind: str, **fields: object) -> None:
        """One more record of the session."""
        parent = self.records[-1]["id"] if self.records else None
        record_id = f"r{len(self.records)}"
        self.records.append({"type": kind, "id": record_id, "parentId": parent, **fields})

    def delta(self) -> dict[str, Any]:
        """Records that were not sent yet, as an event carries them."""
        ids = [record["id"] for record in self.records]
        at = ids.index(self.sent) + 1 if self.sent in ids else 0
        part: dict[str, Any] = {"entries": self.records[at:]}
        if at:
            part["since"] = self.sent
        self.sent = ids[-1] if ids else None
        return part

    async def _prompt(self, prompt: str) -> None:
        await self.adapter.event("before_agent_start", {"prompt": prompt, **self.delta()})
        self._message("user", prompt)

    async def _context(self) -> list[str]:
        sent = [{"role": m["role"], "timestamp": m["timestamp"]} for m in self.request]
        actions = await self.adapter.event("context", {"messages": sent})
        inserts = [action for action in actions if action["type"] == "insert"]
        for action in inserts:
            assert sent[action["after"]]["role"] == "user", action  # noqa: S101 (it is a test)
        return [action["text"] for action in sorted(inserts, key=lambda a: a["after"])]

    def _message(self, role: str, text: str) -> None:
        self.clock += 1
        content = [{"type": "text", "text": text}]
        message = {"role": role, "content": content, "timestamp": self.clock}
        self.request.append(message)
        self.record("message", message=message)
