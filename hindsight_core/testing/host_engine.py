"""`FakeEngine`: what a host adapter talks to in its tests."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from hindsight_core.host import Limits

Params = dict[str, Any]
METHODS = (
    "initialize",
    "session/start",
    "system/prompt",
    "turn/start",
    "turn/progress",
    "turn/end",
    "compact/before",
    "compact/after",
    "session/end",
    "tool/call",
    "command/run",
    "status/get",
)


def block(text: str) -> Params:
    """A block as ``turn/start`` gives it."""
    return {"kind": "recall", "placement": "context", "text": text, "memories": []}


class FakeEngine:
    """Records the canonical calls and answers them in the protocol's form.

    Attributes:
        calls: Pairs of method and parameters, in order.
        blocks: What the next ``turn/start`` gives; it gives them once.
        progress: What ``turn/progress`` gives; it gives them once, and not with ``give: false``.
        state: What ``initialize`` says.
        hold: While set and not signalled, ``turn/start`` waits for it.
        cancelled: Turns that were cancelled while they waited.
        taken_back: Blocks that the adapter said had not reached the model.
        forgotten: How often the shown blocks were said to be gone.
        system: What ``system/prompt`` gives; None leaves the prompt as it is.
    """

    live_tokens = 4_000

    def __init__(self) -> None:
        self.calls: list[tuple[str, Params]] = []
        self.blocks: list[Params] = []
        self.progress: list[Params] = []
        self.state = "active"
        self.hold: asyncio.Event | None = None
        self.cancelled = 0
        self.taken_back = 0
        self.forgotten = 0
        self.system: str | None = None

    @property
    def methods(self) -> Mapping[str, object]:
        """The canonical names."""
        return dict.fromkeys(METHODS)

    async def call(self, method: str, params: Params) -> Params:
        """Record a call and answer it."""
        self.calls.append((method, params))
        if method == "initialize":
            return self._opened()
        if method == "turn/start":
            return await self._turn()
        if method == "turn/progress" and params.get("give") is not False:
            given, self.progress = self.progress, []
            return {"blocks": given}
        results: dict[str, Params] = {
            "session/start": {"blocks": []},
            "turn/progress": {"blocks": []},
            "system/prompt": {"system": self.system, "blocks": []},
            "compact/before": {"context": None},
            "session/end": {"flushed": True, "pending": 0},
        }
        return results.get(method, {})

    def said(self, method: str) -> list[str]:
        """Texts of the entries in all calls of a method, in order."""
        return [
            part["text"]
            for name, params in self.calls
            if name == method
            for entry in params.get("entries") or []
            for part in entry["parts"]
            if part["type"] == "text" and entry["role"] == "user"
        ]

    def forget_shown(self, *, but_last: bool = False) -> None:
        """Count it."""
        self.forgotten += 1

    def take_back(self) -> None:
        """Count it."""
        self.taken_back += 1

    async def _turn(self) -> Params:
        if self.hold is not None:
            try:
                await self.hold.wait()
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
        blocks, self.blocks = self.blocks, []
        return {"outcome": "injected" if blocks else "empty", "blocks": blocks}

    def _opened(self) -> Params:
        active = self.state in ("active", "tools-only")
        tool = {"name": "hindsight_recall", "description": "Search.", "parameters": {}}
        return {
            "protocol": 1,
            "server": {"name": "fake", "version": "0"},
            "state": self.state,
            "reason": "because",
            "bank": {"id": "b", "backend": "fake"} if active else None,
            "tools": [tool] if active else [],
            "commands": [],
            "warnings": [],
            "limits": Limits().wire(),
        }
