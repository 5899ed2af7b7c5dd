"""opencode's raw events as canonical calls, and their results as actions for the shim."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from hindsight_core.host import EngineApi, Limits
from hindsight_host_opencode.instances import Instances
from hindsight_host_opencode.session import ROLE, BankSession
from hindsight_host_opencode.sessions import Sessions
from hindsight_host_opencode.transcript import agent_of, said

Payload = dict[str, Any]
Action = dict[str, Any]
# opencode waits for `dispose`; whoever closes it shall not wait long for a bank that is away.
SESSION_END_MS = 5_000
# The names that opencode's users know, and what they are in every host.
COMMANDS = {"hindsight-retain": ("mem-save", "all")}


class OpencodeAdapter:
    """One opencode process: several plugin instances, each with several sessions.

    Args:
        engines: Makes an engine for one more session.
    """

    name = "opencode"
    limits = Limits(session_end_ms=SESSION_END_MS)

    def __init__(self, engines: Callable[[], EngineApi]) -> None:
        self._sessions = Sessions(engines)
        self._instances = Instances(engines)
        self._created: set[str] = set()
        self._handlers: dict[str, Callable[[Payload], Awaitable[list[Action]]]] = {
            "config": self._instances.configure,
            "session.created": self._session_created,
            "session.deleted": self._session_deleted,
            "chat.message": self._chat_message,
            "experimental.chat.messages.transform": self._messages,
            "experimental.chat.system.transform": self._system,
            "session.idle": self._idle,
            "experimental.session.compacting": self._compacting,
            "session.compacted": self._compacted,
            "tool.execute": self._tool,
            "command.execute": self._command,
            "dispose": self._dispose,
        }

    async def event(self, name: str, payload: Payload) -> Sequence[Action]:
        """Handle one event of opencode; an unknown one does nothing."""
        handler = self._handlers.get(name)
        return await handler(payload) if handler else []

    def answer(self, method: str, result: Payload) -> Payload:
        """The host's answers are in the protocol's form already."""
        return result

    async def _session_created(self, payload: Payload) -> list[Action]:
        info = _info(payload)
        if info is None:
            return []
        self._created.add(info["id"])
        agent = info.get("agent")
        if isinstance(agent, str) and agent:
            await self._of(payload, agent)
        return []

    async def _session_deleted(self, payload: Payload) -> list[Action]:
        info = _info(payload)
        if info is not None:
            await self._sessions.end(info["id"], "quit")
        return []

    async def _chat_message(self, payload: Payload) -> list[Action]:
        message = payload.get("message")
        message = message if isinstance(message, dict) else {}
        parts = payload.get("parts")
        prompt = said(parts if isinstance(parts, list) else [])
        session = await self._of(payload, agent_of(message))
        if session is None or not isinstance(message.get("id"), str):
            return []
        if prompt:
            await session.ask(prompt, message=message["id"])
        return []

    async def _messages(self, payload: Payload) -> list[Action]:
        listed = [m for m in payload.get("messages") or [] if isinstance(m, dict)]
        messages = [(str(m.get("role")), str(m.get("id"))) for m in listed]
        actions = []
        for session in self._sessions.of(str(payload.get("sessionID"))):
            for message, text in await session.blocks(messages):
                actions.append({"type": "insert", "message": message, "text": text})
        return actions

    async def _system(self, payload: Payload) -> list[Action]:
        if payload.get("housekeeping"):
            # A title needs no memory.
            return []
        sessions = self._sessions.of(str(payload.get("sessionID")))
        texts = [text for session in sessions if (text := await session.system())]
        return [{"type": "system", "text": text} for text in texts]

    async def _idle(self, payload: Payload) -> list[Action]:
        messages = payload.get("messages")
        if not isinstance(messages, list):
            return []
        for session in await self._heard(payload, messages):
            await session.done(messages, asked=_text(payload, "asked"))
        return []

    async def _compacting(self, payload: Payload) -> list[Action]:
        messages = payload.get("messages")
        if not isinstance(messages, list):
            return []
        actions = []
        for session in await self._heard(payload, messages):
            context = await session.compacting(messages, reason="unknown")
            if context:
                actions.append({"type": "context", "text": context})
        return actions

    async def _compacted(self, payload: Payload) -> list[Action]:
        for session in self._sessions.of(str(payload.get("sessionID"))):
            await session.compacted()
        return []

    async def _tool(self, payload: Payload) -> list[Action]:
        session = await self._of(payload, _text(payload, "agent"))
        if session is None:
            return []
        called = {"name": payload.get("tool"), "arguments": payload.get("args")}
        return [{"type": "result", **await session.engine.call("tool/call", called)}]

    async def _command(self, payload: Payload) -> list[Action]:
        messages = payload.get("messages")
        messages = messages if isinstance(messages, list) else []
        session = await self._of(payload, _last_agent(messages))
        if session is None:
            return []
        await session.follow(messages)
        name, arguments = COMMANDS.get(str(payload.get("command")), (payload.get("command"), ""))
        called = {"name": name, "arguments": payload.get("arguments") or arguments}
        return [{"type": "result", **await session.engine.call("command/run", called)}]

    async def _dispose(self, payload: Payload) -> list[Action]:
        directory = _text(payload, "directory") or ""
        await self._sessions.end_all("quit", directory=directory)
        self._instances.forget(directory)
        return []

    async def _heard(self, payload: Payload, messages: list[Any]) -> list[BankSession]:
        """The engines of a session; one that is older than this process is opened now."""
        info = _info(payload)
        if info is None:
            return []
        if not self._sessions.of(info["id"]):
            await self._of(payload, _last_agent(messages))
        return self._sessions.of(info["id"])

    async def _of(self, payload: Payload, agent: str | None) -> BankSession | None:
        """The engine that a session's agent uses; None when the session is unknown (oc/O-EV-5)."""
        info, instance = _info(payload), self._instances.of(payload)
        if info is None or instance is None:
            return None
        is_new = info["id"] in self._created
        self._created.discard(info["id"])
        return await self._sessions.get(instance, info, agent, is_new=is_new)


def _info(payload: Payload) -> Payload | None:
    info = payload.get("session")
    return info if isinstance(info, dict) and isinstance(info.get("id"), str) else None


def _text(payload: Payload, name: str) -> str | None:
    value = payload.get(name)
    return value if isinstance(value, str) and value else None


def _last_agent(messages: list[Any]) -> str | None:
    spoken = [m for m in messages if isinstance(m, dict) and m.get("info", {}).get("role") == ROLE]
    return agent_of(spoken[-1]) if spoken else None
