"""`MemoryEngine`: protocol.md's canonical calls, in its own terms."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from hindsight_core import __version__
from hindsight_core.engine.live import LiveSession, block_wire
from hindsight_core.engine.notices import Notices
from hindsight_core.engine.opening import Opening, open_session
from hindsight_core.errors import HindsightError
from hindsight_core.host import Limits
from hindsight_core.services import Clock, utc_now

if TYPE_CHECKING:
    from hindsight_core.services import BridgeAccess

PROTOCOL = 1
Params = dict[str, Any]
Call = Callable[[Params], Awaitable[Any]]
logger = logging.getLogger("hindsight_core.engine")


class Outlet(Protocol):
    """The way back to the host."""

    def notify(self, method: str, params: Params) -> None:
        """Send one notification."""
        ...

    def bridge(self, capabilities: frozenset[str]) -> BridgeAccess:
        """Requests to the host, for what it declared."""
        ...


class MemoryEngine:
    """One host process's memory.

    Every call answers with a result; trouble with memory is in the result and in a notice.

    Args:
        host: Name of the host adapter.
        env: The environment, for configuration.
        outlet: The way back to the host.
        ceiling: Upper bounds of the host, lower than the configured ones where it must be.
    """

    def __init__(
        self,
        *,
        host: str,
        env: Mapping[str, str],
        outlet: Outlet,
        ceiling: Limits | None = None,
        clock: Clock = utc_now,
    ) -> None:
        self._host = host
        self._env = env
        self._outlet = outlet
        self._ceiling = ceiling
        self._clock = clock
        self._notices = Notices(self._tell)
        self._opening: Opening | None = None
        self._live: LiveSession | None = None
        # Requests run side by side: one that was sent behind `initialize` waits for it.
        self._gate = asyncio.Lock()
        self.limits = ceiling or Limits()

    def lower_limits(self, ceiling: Limits) -> None:
        """Keep inside the host's own cuts."""
        self._ceiling = self.limits = ceiling

    @property
    def methods(self) -> dict[str, Call]:
        """Handlers by canonical method name."""
        behind = {
            "session/start": self.session_start,
            "turn/start": self.turn_start,
            "turn/progress": self.turn_progress,
            "turn/end": self.turn_end,
            "compact/before": self.compact_before,
            "compact/after": self.compact_after,
            "session/end": self.session_end,
            "tool/call": self.tool_call,
            "command/run": self.command_run,
            "status/get": self.status_get,
        }
        waiting = {name: self._behind_opening(run) for name, run in behind.items()}
        return {"initialize": self.initialize, **waiting}

    def _behind_opening(self, run: Call) -> Call:
        async def call(params: Params) -> Any:
            async with self._gate:
                pass
            return await run(params)

        return call

    @property
    def live_tokens(self) -> int:
        """``recall.live_tokens`` of this session, for `hindsight_core.host.Replay`."""
        return self._live.runtime.settings.recall.live_tokens if self._live else 0

    async def call(self, method: str, params: Params) -> Params:
        """One canonical call by name, for host adapters."""
        result: Params = await self.methods[method](params)
        return result

    async def initialize(self, params: Params) -> Params:
        """Open the session; state and reason say what memory does here."""
        async with self._gate:
            return await self._initialize(params)

    async def _initialize(self, params: Params) -> Params:
        await self._leave("reload")
        opening = await asyncio.to_thread(open_session, params, host=self._host, env=self._env)
        self._opening = opening
        warnings = list(opening.warnings)
        tools: list[Params] = []
        if opening.state in ("active", "tools-only"):
            opening, tools = self._open(opening)
            warnings += self._live.runtime.problems if self._live else []
        for warning in warnings:
            self._notices.known(warning)
        bank = opening.loaded.bank if opening.loaded and opening.state != "off" else None
        result: Params = {
            "protocol": PROTOCOL,
            "server": {"name": "hindsight-mem", "version": __version__},
            "state": opening.state,
            "bank": {"id": bank.id, "backend": bank.backend} if bank and bank.id else None,
            "tools": tools,
            "commands": [],
            "warnings": warnings,
            "limits": self.limits.wire(),
        }
        if opening.reason:
            result["reason"] = opening.reason
        return result

    async def session_start(self, params: Params) -> Params:
        """A session begins, continues, or its context was compacted."""
        if self._live is not None:
            await self._safely(self._live.started(_text(params, "reason") or "startup", params))
        self._status()
        return {"blocks": []}

    async def turn_start(self, params: Params) -> Params:
        """Recall for a prompt: at most one new block."""
        if self._live is None:
            return {"outcome": "skipped", "reason": self._why_off(), "blocks": []}
        outcome = await self._live.turn_start(
            _text(params, "turnId") or "", _text(params, "prompt") or "", params
        )
        blocks = [block_wire(outcome.block)] if outcome.block else []
        result: Params = {"outcome": outcome.outcome, "blocks": blocks}
        if outcome.reason:
            result["reason"] = outcome.reason
        self._status()
        return result

    async def turn_progress(self, params: Params) -> Params:
        """Inside a long run; the path is followed, steers are a plan of their own."""
        if self._live is not None:
            self._live.path.update(params)
        return {"blocks": []}

    async def turn_end(self, params: Params) -> Params:
        """Make the turn durable; writes go on in the background."""
        if self._live is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(self.limits.turn_end_ms / 1000):
                    await self._safely(asyncio.shield(self._live.turn_end(params)))
        return {}

    async def compact_before(self, params: Params) -> Params:
        """Memorize what is about to be discarded, in the background."""
        if self._live is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(self.limits.compact_ms / 1000):
                    await self._safely(asyncio.shield(self._live.compact_before(params)))
        return {"context": None}

    async def compact_after(self, params: Params) -> Params:
        """The model has lost what was shown: it may be shown again."""
        if self._live is not None:
            await self._safely(self._live.forget_shown())
        return {}

    async def session_end(self, params: Params) -> Params:
        """Flush within the bound; what is left stays durable."""
        pending = await self._leave(_text(params, "reason") or "quit")
        return {"flushed": pending == 0, "pending": pending}

    async def tool_call(self, params: Params) -> Params:
        """Run one of the agent's tools."""
        name, arguments = _text(params, "name") or "", params.get("arguments")
        if self._live is None:
            why = f"Memory is not active here: {self._why_off()}"
            return {"content": why, "isError": True, "details": {"outcome": "failed"}}
        result = await self._live.tools.call(name, arguments if isinstance(arguments, dict) else {})
        return result.wire()

    async def command_run(self, params: Params) -> Params:
        """Slash commands of the session."""
        name = _text(params, "name") or ""
        return {"text": f"There is no command {name!r}.", "level": "error"}

    async def status_get(self, params: Params) -> Params:
        """What memory does here, with counts and usage."""
        from hindsight_core.engine.status import status

        return await status(self._opening, self._live, self._notices)

    async def close(self) -> None:
        """The host is gone: make windows durable and flush, without a model call."""
        await self._leave("crash")

    def _open(self, opening: Opening) -> tuple[Opening, list[Params]]:
        from hindsight_core.runtime import Runtime

        if opening.loaded is None:
            raise AssertionError("an active session has a configuration")
        bridge = self._outlet.bridge(opening.capabilities.names)
        try:
            runtime = Runtime(opening.loaded, clock=self._clock, bridge=bridge, env=self._env)
            live = LiveSession(
                opening, runtime, notices=self._notices, host=self._host, bridge=bridge
            )
            tools = live.tools.describe()
        except HindsightError as error:
            self._opening = broken = opening.off(str(error))
            return broken, []
        self._live = live
        self.limits = _limits(runtime.settings, self._ceiling)
        return opening, tools

    async def _leave(self, reason: str) -> int:
        live, self._live = self._live, None
        if live is None:
            return 0
        try:
            return await live.end(reason, timeout_s=self.limits.session_end_ms / 1000)
        except Exception as error:
            logger.exception("session end failed")
            self._notices.trouble("state", str(error))
            return 1
        finally:
            await live.runtime.close()

    async def _safely(self, work: Awaitable[None]) -> None:
        """Fail open: an error of ours is logged and told, never a veto."""
        try:
            await work
        except HindsightError as error:
            self._notices.trouble("memory", str(error))
        except Exception as error:
            logger.exception("memory failed")
            self._notices.trouble("memory", f"{type(error).__name__}: {error}")

    def _why_off(self) -> str:
        if self._opening is None:
            return "not initialized"
        return self._opening.reason or self._opening.state

    def _tell(self, level: str, text: str) -> None:
        self._outlet.notify("notify", {"level": level, "text": text})

    def _status(self) -> None:
        if self._opening is None or not self._opening.capabilities.status:
            return
        from hindsight_core.engine.status import line

        text = line(self._opening, self._notices)
        self._outlet.notify("status/changed", {"line": text, "state": self._opening.state})


def _limits(settings: Any, ceiling: Limits | None) -> Limits:
    top = ceiling or Limits(10**9, 10**9, 10**9, 10**9)
    return Limits(
        turn_start_ms=min(settings.recall.timeout_ms, top.turn_start_ms),
        turn_end_ms=min(1_000, top.turn_end_ms),
        compact_ms=min(settings.memorize.compact_timeout_ms, top.compact_ms),
        session_end_ms=min(settings.queue.shutdown_timeout_ms, top.session_end_ms),
    )


def _text(params: Mapping[str, Any], name: str) -> str | None:
    value = params.get(name)
    return value if isinstance(value, str) else None
