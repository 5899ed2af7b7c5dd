"""One session of opencode in one bank: its engine, its turn, what of it is before the model."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from hindsight_core.host import EngineApi
from hindsight_core.replay import Replay
from hindsight_host_opencode.transcript import is_aborted, wire

Json = dict[str, Any]
CAPABILITIES = {"blocks": "replay", "agents": True}
ROLE = "user"


class BankSession:
    """What one engine does for a session.

    A turn's recall starts with the message and is awaited where the request is made. A block
    for the system prompt stays as it is for the whole session, so that the provider's prefix
    cache holds; other blocks are put back behind the message that they answer.

    Args:
        engine: Memory of this session, in one bank.
        session_id: opencode's session.
    """

    def __init__(self, engine: EngineApi, session_id: str) -> None:
        self.engine = engine
        self.session_id = session_id
        self.agents: set[str] = set()
        self.opened: Json = {}
        self._replay = Replay(cap_tokens=0)
        self._system: str | None = None
        self._turn: asyncio.Task[Json] | None = None
        self._asked: str | None = None
        self._placing = asyncio.Lock()
        self._is_compacting = False
        self._ended: list[Any] = []

    @property
    def state(self) -> str:
        """As ``initialize`` said."""
        return str(self.opened.get("state"))

    @property
    def bank(self) -> str | None:
        """The bank in use; None where none is."""
        bank = self.opened.get("bank")
        return bank["id"] if isinstance(bank, dict) else None

    async def open(
        self, info: Json, *, agent: str | None, config: Json, cwd: str, is_new: bool
    ) -> None:
        """``initialize`` and ``session/start``."""
        session = {"id": self.session_id, "parentId": info.get("parentID"), "agent": agent}
        self.opened = await self.engine.call(
            "initialize",
            {
                "protocol": 1,
                "client": {"name": "opencode-shim", "version": "1"},
                "cwd": cwd,
                "session": {key: value for key, value in session.items() if value},
                "config": config,
                "capabilities": CAPABILITIES,
            },
        )
        self.agents = {agent} if agent else set()
        self._replay = Replay(cap_tokens=self.engine.live_tokens)
        reason = "startup" if is_new else "resume"
        await self.engine.call("session/start", {"reason": reason})

    async def ask(self, prompt: str, *, message: str) -> None:
        """The person says something; recall starts and is awaited by `blocks` and `system`."""
        await self.stop_turn()
        self._is_compacting = False
        params = {"turnId": uuid.uuid4().hex, "prompt": prompt}
        self._asked = message
        self._turn = asyncio.create_task(self.engine.call("turn/start", params))

    async def blocks(self, messages: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """Pairs of message id and the block behind it, for a request with these messages.

        Args:
            messages: Pairs of role and id.
        """
        await self._place()
        if self._is_compacting:
            # What the summary is made of is what was said.
            return []
        return [(messages[at][1], text) for at, text in self._replay.places(messages)]

    async def system(self) -> str | None:
        """The block for the system prompt: the same text in every request of the session."""
        await self._place()
        return None if self._is_compacting else self._system

    async def done(self, messages: Sequence[Any], *, asked: str | None = None) -> None:
        """The session is idle: its whole path, once for each state of it.

        Args:
            messages: As the host lists them.
            asked: The last message of the person when it became idle; a later one is already
                being answered, and its recall goes on.
        """
        if asked is None or asked == self._asked:
            await self.stop_turn()
        self._is_compacting = False
        state = [_state(message) for message in messages]
        if state == self._ended:
            return
        self._ended = state
        await self.engine.call(
            "turn/end", {"aborted": is_aborted(messages), "entries": self._path(messages)}
        )

    async def follow(self, messages: Sequence[Any]) -> None:
        """Take the path as it is now, before a command works on it."""
        await self.engine.call("turn/progress", {"entries": self._path(messages)})

    async def compacting(self, messages: Sequence[Any], *, reason: str) -> str | None:
        """Before a compaction: all of it is memorized; text for the compaction's input."""
        await self.stop_turn()
        await self.follow(messages)
        self._is_compacting = True
        result = await self.engine.call("compact/before", {"reason": reason})
        context = result.get("context")
        return context if isinstance(context, str) else None

    async def compacted(self) -> None:
        """The model has lost its messages; the system prompt stays."""
        self._is_compacting = False
        self._replay.clear()
        await self.engine.call("compact/after", {})

    async def end(self, reason: str) -> None:
        """The session is over here."""
        await self.stop_turn()
        await self.engine.call("session/end", {"reason": reason})

    async def stop_turn(self) -> None:
        """End a turn whose block was not placed: it leaves no trace."""
        turn, self._turn = self._turn, None
        if turn is None:
            return
        if turn.done():
            self.engine.take_back()
            return
        turn.cancel()
        with suppress(asyncio.CancelledError):
            await turn

    async def _place(self) -> None:
        # The title's request and the agent's own one run side by side.
        async with self._placing:
            if (turn := self._turn) is None:
                return
            await asyncio.wait([turn])
            if self._turn is not turn or turn.cancelled():
                # The person gave it up while memory looked.
                return
            self._turn = None
            for block in turn.result()["blocks"]:
                if block["placement"] == "system":
                    self._system = block["text"]
                elif self._replay.add((ROLE, self._asked), block["text"]):
                    self.engine.forget_shown(but_last=True)

    def _path(self, messages: Sequence[Any]) -> list[Json]:
        return wire(messages, agents=frozenset(self.agents) or None)


def _state(message: object) -> tuple[Any, ...]:
    info = message.get("info", message) if isinstance(message, dict) else {}
    time = info.get("time")
    completed = time.get("completed") if isinstance(time, dict) else None
    parts = message.get("parts") if isinstance(message, dict) else None
    return info.get("id"), completed, len(parts) if isinstance(parts, list) else 0
