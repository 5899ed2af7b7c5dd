"""One session of a hook-JSON agent: its events as canonical calls, their results as replies."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import uuid
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from contextlib import suppress
from typing import Any

from hindsight_core.host import EngineApi
from hindsight_core.host_hooks import HookSession
from hindsight_core.transcript.wire import entry_to_wire
from hindsight_host_generic.agents.base import Agent, Event, Reply
from hindsight_host_generic.hooks import Hook, read_hook
from hindsight_host_generic.sources import Source
from hindsight_host_generic.transcripts.gemini import without_hook_context

Params = dict[str, Any]
# How long a reply waits for what it does not need: that the turn is on disk, that the file is read.
_DURABLE_S = 0.3
_READ_S = 0.5
_END_S = 1.2
# What a session's end gets where no hook waits for it (queue.shutdown_timeout_ms bounds it).
_RESIDENT_END_MS = 60_000
_TOLD = 20
logger = logging.getLogger("hindsight_core.hosts.generic")


class AgentAdapter:
    """Implements `hindsight_core.host_hooks.HookAdapter`.

    Args:
        engine: The session's memory.
        agent: Which agent program it is.
        session: Which session.
        memo: Outlives this process: where the transcript stood, what the person was told.
        resident: Whether this process stays: one that does not reads less of a long transcript
            and keeps to the agent's own bound at the end.
    """

    def __init__(
        self,
        engine: EngineApi,
        agent: Agent,
        session: HookSession,
        memo: MutableMapping[str, Any],
        *,
        resident: bool = True,
    ) -> None:
        self.name = agent.name
        self.limits = agent.limits
        self.opening: Mapping[str, Any] | None = None
        self._engine = engine
        self._agent = agent
        self._session = session
        self._memo = memo
        self._source = Source(agent, memo, resident=resident)
        self._granted = {"withinMs": _RESIDENT_END_MS} if resident else {}
        self._state: str | None = None
        self._gate = asyncio.Lock()
        self._order = asyncio.Lock()
        self._turns = asyncio.Lock()
        self._compacting = False
        self._notices: list[str] = []
        self._behind: set[asyncio.Task[None]] = set()
        self._handlers: dict[str, Callable[[Hook], Awaitable[str | None]]] = {
            "session_start": self._start,
            "prompt": self._prompt,
            "turn_end": self._turn_end,
            "compact_before": self._compact_before,
            "compact_after": self._compact_after,
            "session_end": self._end,
            "child_start": self._prompt,
            "child_end": self._nothing,
        }

    async def event(self, name: str, payload: Params) -> Sequence[Params]:
        """Handle one hook; an event that is not ours says nothing."""
        event = self._agent.event(name)
        if event is None:
            return []
        context = await self._handlers[event.kind](read_hook(self._agent, event, payload))
        reply = Reply(context=context, notice=self._notice(event))
        actions: list[Params] = [
            {"type": "reply", "reply": self._agent.emit(event, reply, payload)}
        ]
        if event.kind in ("session_end", "child_end"):
            actions.append({"type": "ended"})
        return actions

    def answer(self, method: str, result: Params) -> Params:
        """A hook is never asked."""
        return result

    def tell(self, level: str, text: str) -> None:
        """Keep a notice for the next reply; each once a session, over all its processes."""
        told = self._memo.setdefault("told", [])
        mark = hashlib.sha256(text.encode(errors="replace")).hexdigest()[:12]
        if mark in told:
            return
        self._memo["told"] = [*told, mark][-_TOLD:]
        self._notices.append(text)

    async def settle(self) -> None:
        """Finish what goes on behind the replies."""
        while self._behind:
            await asyncio.wait(list(self._behind))

    async def _start(self, hook: Hook) -> str | None:
        if await self._open(started=hook.why) and not self._is_child:
            await self._follow(hook, wait_s=_READ_S)
            if hook.why == "compact":
                await self._engine.call("compact/after", {})
        return None

    async def _prompt(self, hook: Hook) -> str | None:
        if not await self._open() or not hook.prompt:
            return None
        prompt = without_hook_context(hook.prompt)
        if not self._is_child:
            self._source.prompt(prompt)
            await self._follow(hook, wait_s=_READ_S)
        params = {"turnId": hook.turn or uuid.uuid4().hex, "prompt": prompt}
        # One after another: what the first one shows, the second one must know.
        async with self._turns:
            result = await self._engine.call("turn/start", params)
        texts = [block["text"] for block in result["blocks"]]
        return "\n\n".join(texts) or None

    async def _turn_end(self, hook: Hook) -> str | None:
        if self._is_child or not await self._open():
            return None

        async def end() -> None:
            async with self._order:
                path = await self._read(hook, ended=True)
                await self._send("turn/end", {"aborted": False, **path})

        await self._go_on(end(), wait_s=_DURABLE_S)
        return None

    async def _compact_before(self, hook: Hook) -> str | None:
        if self._is_child or not await self._open():
            return None

        async def compact() -> None:
            async with self._order:
                await self._send("turn/progress", await self._read(hook))
                self._compacting = True
                await self._engine.call("compact/before", {"reason": hook.why})

        await self._go_on(compact(), wait_s=_END_S)
        return None

    async def _compact_after(self, hook: Hook) -> str | None:
        if not self._is_child and await self._open():
            await self._engine.call("compact/after", {})
        return None

    async def _end(self, hook: Hook) -> str | None:
        if not await self._open():
            return None
        durable = asyncio.Event()

        async def end() -> None:
            async with self._order:
                try:
                    path = await self._read(hook)
                    await self._send("turn/end", {"aborted": False, **path})
                finally:
                    durable.set()
                await self._engine.call("session/end", {"reason": hook.why, **self._granted})

        self._spawn(end())
        with suppress(TimeoutError):
            async with asyncio.timeout(_END_S):
                await durable.wait()
        return None

    async def _nothing(self, hook: Hook) -> str | None:
        return None

    @property
    def _is_child(self) -> bool:
        return self._session.parent is not None

    async def _open(self, *, started: str | None = None) -> bool:
        """Open the session once in this process; whether memory does anything here."""
        async with self._gate:
            if self._state is None:
                await self._initialize()
                started = started or "reload"
            if started is not None and self._state == "active" and not self._is_child:
                await self._engine.call("session/start", {"reason": started})
        return self._state in ("active", "tools-only")

    async def _initialize(self) -> None:
        # Where the session began says whose it is, wherever the agent walks later (br/BR-67).
        cwd = self._memo.setdefault("cwd", self._session.cwd)
        opening: Params = {
            "protocol": 1,
            "client": {"name": self.name, "version": "hook"},
            "cwd": cwd,
            "session": {"id": self._session.id, "parentId": self._session.parent},
            "capabilities": {"blocks": "persist", "spawned": True},
        }
        self.opening = opening
        opened = await self._engine.call("initialize", opening)
        self._state = str(opened["state"])
        for warning in opened["warnings"]:
            self.tell("warning", warning)
        if self._state == "off":
            self.tell("warning", f"Memory is off: {opened.get('reason')}")

    async def _follow(self, hook: Hook, *, wait_s: float) -> None:
        """Read the transcript before going on, but not for long: it goes on behind."""

        async def read() -> None:
            async with self._order:
                path = await self._read(hook)
                if path:
                    await self._send("turn/progress", path)

        await self._go_on(read(), wait_s=wait_s)

    async def _read(self, hook: Hook, *, ended: bool = False) -> Params:
        """What is new on the path, as ``entries`` and ``since`` of a call; empty for nothing."""
        news = await self._source.update(hook, ended=ended)
        if news.skipped:
            size = news.skipped // (1024 * 1024)
            self.tell("info", f"The first {size} MB of this session's transcript were not read.")
        if news.compacted:
            if not self._compacting:
                # The agent did not say so: what the engine still has on its path is about to go.
                await self._engine.call("compact/before", {"reason": "unknown"})
            self._compacting = False
            await self._engine.call("compact/after", {})
        if news.since is not None and not news.entries:
            return {}
        path: Params = {"entries": [entry_to_wire(entry) for entry in news.entries]}
        return path if news.since is None else {**path, "since": news.since}

    async def _send(self, method: str, params: Params) -> None:
        result = await self._engine.call(method, params)
        if result.get("reason") == "resync":
            whole = [entry_to_wire(entry) for entry in self._source.entries]
            given = {name: value for name, value in params.items() if name != "since"}
            await self._engine.call(method, {**given, "entries": whole})

    async def _go_on(self, work: Any, *, wait_s: float) -> None:  # noqa: ANN401 - a coroutine
        task = self._spawn(work)
        await asyncio.wait([task], timeout=wait_s)

    def _spawn(self, work: Any) -> asyncio.Task[None]:  # noqa: ANN401 - a coroutine
        task: asyncio.Task[None] = asyncio.create_task(work)
        self._behind.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[None]) -> None:
        self._behind.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("%s: work behind a hook failed", self.name, exc_info=error)

    def _notice(self, event: Event) -> str | None:
        if not event.notice or not self._notices:
            return None
        texts, self._notices = self._notices, []
        return "\n".join(f"Memory: {text}" for text in texts)
