"""Raw events of pi and its kin as canonical calls, and their results as actions for the shim."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from hindsight_core.extension_host.branch import Branch
from hindsight_core.host import EngineApi, Limits
from hindsight_core.replay import Replay

Payload = dict[str, Any]
Action = dict[str, Any]
CAPABILITIES = {
    "complete": True,
    "entries": True,
    "credentials": True,
    "status": True,
    "panel": True,
    "blocks": "replay",
}


class ExtensionAdapter:
    """One process of such a host; a host's own adapter says what differs there.

    A turn's recall starts with ``before_agent_start`` and is awaited in ``context``, the first
    event in which Escape may reach an extension; a cancelled ``context`` cancels the recall.
    """

    name = ""
    limits = Limits()

    def __init__(self, engine: EngineApi) -> None:
        self._engine = engine
        self._replay = Replay(cap_tokens=0)
        self._branch = Branch()
        self._turn: asyncio.Task[Payload] | None = None
        self._handlers: dict[str, Callable[[Payload], Awaitable[list[Action]]]] = {
            "session_start": self.session_start,
            "before_agent_start": self._before_agent_start,
            "context": self._context,
            "message_update": self._writing,
            "turn_end": self._turn_end,
            "agent_end": self._agent_end,
            "session_before_compact": self._before_compact,
            "session_compact": self._compact,
            "session_shutdown": self.session_shutdown,
            **self.own_handlers(),
        }

    # -- what a host says of itself ---------------------------------------------------------------

    def own_handlers(self) -> Mapping[str, Callable[[Payload], Awaitable[list[Action]]]]:
        """Handlers of events that only this host has."""
        return {}

    def session(self, payload: Payload) -> Payload:
        """``initialize.session``, of what the shim tells about the session."""
        raise NotImplementedError

    def reason(self, payload: Payload) -> str | None:
        """Why a session begins, as ``session/start`` has it."""
        reason = payload.get("reason")
        return reason if isinstance(reason, str) else None

    def instructions(self) -> Sequence[str]:
        """Files in which the host's user writes what holds in every project."""
        return ()

    def offers(self) -> Sequence[Action]:
        """What other extensions may hand over, as actions; they come back as ``offered`` events."""
        return ()

    def end_after(self, payload: Payload) -> int | None:
        """Milliseconds for the session's end now, after a turn; None when it goes on."""
        return None

    def tool(self, tool: Payload) -> Payload:
        """A tool as the shim registers it."""
        return tool

    # -- HostAdapter ------------------------------------------------------------------------------

    async def event(self, name: str, payload: Payload) -> Sequence[Action]:
        """Handle one event of the host; an unknown one does nothing."""
        handler = self._handlers.get(name)
        return await handler(payload) if handler else []

    def answer(self, method: str, result: Payload) -> Payload:
        """Translate an answer to the core: the host's records become entries."""
        if method == "host/entries" and isinstance(result.get("entries"), list):
            return {"entries": self._branch.replace(result["entries"])}
        return result

    async def session_start(self, payload: Payload) -> list[Action]:
        """A session begins: `initialize`, ``session/start``, and what the shim registers."""
        opened = await self._engine.call(
            "initialize",
            {
                "protocol": 1,
                "client": {"name": f"{self.name}-shim", "version": "1"},
                "cwd": payload.get("cwd"),
                "session": self.session(payload),
                "capabilities": CAPABILITIES,
            },
        )
        self._replay = Replay(cap_tokens=self._engine.live_tokens)
        started: Payload = {"reason": self.reason(payload), "instructions": [*self.instructions()]}
        if isinstance(payload.get("systemPrompt"), str):
            started["system"] = payload["systemPrompt"]
        await self._engine.call("session/start", {**started, **self._branch.update(payload)})
        actions: list[Action] = [
            {"type": "limits", "limits": opened["limits"]},
            {"type": "tools", "tools": [self.tool(tool) for tool in opened["tools"]]},
            {"type": "commands", "commands": opened.get("commands") or []},
            {"type": "progress", "on": opened.get("progress") is True},
            *self.offers(),
        ]
        actions += [
            {"type": "notify", "level": "warning", "text": text} for text in opened["warnings"]
        ]
        if opened["state"] in ("off", "dormant"):
            text = f"Memory is {opened['state']}: {opened.get('reason')}"
            actions.append({"type": "status", "line": ""})
            if opened["state"] == "off":
                actions.append({"type": "notify", "level": "warning", "text": text})
        return actions

    async def _before_agent_start(self, payload: Payload) -> list[Action]:
        await self._stop_turn()
        params = {
            "turnId": uuid.uuid4().hex,
            "prompt": payload.get("prompt") or "",
            **self._branch.update(payload),
        }
        self._turn = asyncio.create_task(self._engine.call("turn/start", params))
        return await self._system(payload.get("systemPrompt"))

    async def _system(self, prompt: object) -> list[Action]:
        """What the core makes of the system prompt; nothing where it stays as it is."""
        if not isinstance(prompt, str) or not prompt:
            return []
        placed = await self._engine.call("system/prompt", {"system": prompt})
        text = placed.get("system")
        return [{"type": "system", "text": text}] if isinstance(text, str) else []

    async def _context(self, payload: Payload) -> list[Action]:
        messages = [(m.get("role"), m.get("timestamp")) for m in payload.get("messages") or []]
        actions: list[Action] = []
        if self._turn is not None:
            try:
                turn = await asyncio.shield(self._turn)
            except asyncio.CancelledError:
                await self._stop_turn()
                raise
            self._turn = None
            for block in turn["blocks"]:
                actions += self._place(block, messages)
        elif messages and messages[-1][0] != "user":
            # What was found while the agent worked goes behind what it has got last.
            progress = await self._engine.call("turn/progress", {"wait": False})
            for block in progress["blocks"]:
                actions += self._placed(block, messages[-1])
        for index, text in self._replay.places(messages):
            at = messages[max(index, 0)][1]
            actions.append({"type": "insert", "after": index, "text": text, "timestamp": at})
        return actions

    def _place(self, block: Payload, messages: list[tuple[Any, Any]]) -> list[Action]:
        anchor = next((m for m in reversed(messages) if m[0] == "user"), None)
        if anchor is None:
            self._engine.take_back()
            return []
        return self._placed(block, anchor)

    def _placed(self, block: Payload, anchor: tuple[Any, Any]) -> list[Action]:
        position = block.get("position", "after")
        if self._replay.add(anchor, block["text"], position=position):
            self._engine.forget_shown(but_last=True)
        facts = [line for line in block["text"].splitlines() if line.startswith("- ")]
        lines = [*(block.get("display") or f"recalled {len(facts)}").splitlines(), *facts]
        return [{"type": "show", "id": block.get("id") or uuid.uuid4().hex[:12], "lines": lines}]

    async def _writing(self, payload: Payload) -> list[Action]:
        """The model is writing: what it thinks may be a reason to look."""
        parts = [
            {"type": kind, "text": payload[kind]}
            for kind in ("thinking", "text")
            if isinstance(payload.get(kind), str) and payload[kind]
        ]
        partial = {"id": "partial", "role": "assistant", "parts": parts}
        await self._engine.call("turn/progress", {"give": False, "partial": partial})
        return []

    async def _turn_end(self, payload: Payload) -> list[Action]:
        """A step of the agent is over; what is found now waits for the next request."""
        await self._follow(payload)
        return []

    async def _follow(self, payload: Payload) -> None:
        await self._engine.call("turn/progress", {"give": False, **self._branch.update(payload)})

    async def _agent_end(self, payload: Payload) -> list[Action]:
        await self._stop_turn()
        await self._engine.call(
            "turn/end", {"aborted": payload.get("aborted") is True, **self._branch.update(payload)}
        )
        within_ms = self.end_after(payload)
        return [{"type": "end", "withinMs": within_ms}] if within_ms else []

    async def _before_compact(self, payload: Payload) -> list[Action]:
        await self._follow(payload)
        kept = self._branch.at_or_after(payload.get("firstKeptEntryId"))
        reason = payload.get("reason")
        await self._engine.call(
            "compact/before", {"firstKept": kept, "reason": reason or "unknown"}
        )
        return []

    async def _compact(self, payload: Payload) -> list[Action]:
        self._replay.clear()
        await self._follow(payload)
        await self._engine.call("compact/after", {})
        return []

    async def session_shutdown(self, payload: Payload) -> list[Action]:
        """The session ends, for good or for another one."""
        await self._stop_turn()
        await self._follow(payload)
        end = {"reason": payload.get("reason") or "quit"}
        if payload.get("withinMs"):
            end["withinMs"] = payload["withinMs"]
        await self._engine.call("session/end", end)
        return []

    async def _stop_turn(self) -> None:
        """End a turn whose block was not placed: it leaves no trace."""
        turn, self._turn = self._turn, None
        if turn is None:
            return
        if turn.done():
            self._engine.take_back()
            return
        turn.cancel()
        with suppress(asyncio.CancelledError):
            await turn
