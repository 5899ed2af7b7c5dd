"""`MemoryEngine`: protocol.md's canonical calls, in its own terms."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from hindsight_core.engine import explicit
from hindsight_core.engine.bounds import at_end, limits, within
from hindsight_core.engine.live import LiveSession
from hindsight_core.engine.notices import Notices
from hindsight_core.engine.opening import Opening, open_session
from hindsight_core.engine.person import placed
from hindsight_core.engine.wire import block_wire, opened_wire, turn_wire
from hindsight_core.errors import HindsightError
from hindsight_core.host import Limits
from hindsight_core.services import Clock, utc_now

if TYPE_CHECKING:
    from hindsight_core.engine.outlet import Outlet

PROTOCOL = 1
_CLOSE_S = 2.0
Params = dict[str, Any]
Call = Callable[[Params], Awaitable[Params]]
logger = logging.getLogger("hindsight_core.engine")


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
        self._ended = False
        self.limits = ceiling or Limits()

    def lower_limits(self, ceiling: Limits) -> None:
        """Keep inside the host's own cuts."""
        self._ceiling = self.limits = ceiling

    @property
    def methods(self) -> dict[str, Call]:
        """Handlers by canonical method name."""
        behind = {
            "session/start": self.session_start,
            "system/prompt": lambda params: placed(self._live, params),
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
        async def call(params: Params) -> Params:
            async with self._gate:
                pass
            return await run(params)

        return call

    @property
    def session(self) -> tuple[Opening | None, LiveSession | None]:
        """What is open, for the panel."""
        return self._opening, self._live

    @property
    def live_tokens(self) -> int:
        """``recall.live_tokens`` of this session, for `hindsight_core.replay.Replay`."""
        return self._live.runtime.settings.recall.live_tokens if self._live else 0

    async def call(self, method: str, params: Params) -> Params:
        """One canonical call by name, for host adapters."""
        return await self.methods[method](params)

    async def initialize(self, params: Params) -> Params:
        """Open the session; state and reason say what memory does here."""
        async with self._gate:
            return await self._initialize(params)

    async def _initialize(self, params: Params) -> Params:
        await self._leave("reload")
        self._ended = False
        opening = await asyncio.to_thread(open_session, params, host=self._host, env=self._env)
        self._opening = opening
        warnings = list(opening.warnings)
        tools: list[Params] = []
        if opening.state in ("active", "tools-only"):
            opening, problems = await self._open(opening)
            warnings += problems
            if self._live is not None and not opening.capabilities.spawned:
                tools = self._live.tools.describe()
        for warning in warnings:
            self._notices.known(warning)
        return opened_wire(
            opening,
            protocol=PROTOCOL,
            tools=tools,
            commands=explicit.listed(self._live, opening),
            warnings=warnings,
            limits=self.limits,
            progress=self._live is not None and self._live.steers.applies,
        )

    async def session_start(self, params: Params) -> Params:
        """A session begins, continues, or its context was compacted."""
        if self._live is not None:
            await self._safely(self._live.started(_text(params, "reason") or "startup", params))
        return {"blocks": []}

    async def turn_start(self, params: Params) -> Params:
        """Recall for a prompt: at most one new block."""
        if self._live is None:
            return {"outcome": "skipped", "reason": self._why_off(), "blocks": []}
        turn, prompt = _text(params, "turnId") or "", _text(params, "prompt") or ""
        limit_s = self.limits.turn_start_ms / 1000
        return turn_wire(await self._live.turn_start(turn, prompt, params, limit_s=limit_s))

    async def turn_progress(self, params: Params) -> Params:
        """Inside a long run: what should reach the agent before its next step."""
        if (live := self._live) is None:
            return {"blocks": []}
        await within(self.limits.turn_start_ms, self._safely(live.steers.progress(params)))
        return {"blocks": [block_wire(block) for block in live.steers.given(params)]}

    async def turn_end(self, params: Params) -> Params:
        """Make the turn durable; writes go on in the background."""
        result: Params = {}
        live = self._live
        if live is None:
            return result

        async def end() -> None:
            if not await live.turn_end(params):
                result.update(outcome="skipped", reason="resync")

        await within(self.limits.turn_end_ms, self._safely(end()))
        return dict(result)

    async def compact_before(self, params: Params) -> Params:
        """Memorize what is about to be discarded, in the background."""
        if (live := self._live) is None:
            return {"context": None}
        limit_s = self.limits.compact_ms / 1000
        context, _ = await asyncio.gather(
            live.at_start.compacting(limit_s=limit_s),
            within(self.limits.compact_ms, self._safely(live.compact_before(params))),
        )
        return {"context": context}

    async def compact_after(self, params: Params) -> Params:
        """The model has lost what was shown: it may be shown again."""
        if self._live is not None:
            self._live.compacted()
        return {}

    def forget_shown(self, *, but_last: bool = False) -> None:
        """As ``compact/after``; ``but_last`` for an adapter that kept the newest block."""
        if self._live is not None:
            self._live.forget_shown(but_last=but_last)

    def take_back(self) -> None:
        """The block of the last ``turn/start`` did not reach the model (an aborted turn)."""
        if self._live is not None:
            self._live.take_back()

    async def session_end(self, params: Params) -> Params:
        """Flush within the bound; what is left stays durable."""
        granted = params.get("withinMs")
        pending = await self._leave(_text(params, "reason") or "quit", granted=granted)
        self._ended = True
        return {"flushed": pending == 0, "pending": pending}

    async def tool_call(self, params: Params) -> Params:
        """Run one of the agent's tools."""
        why = self._why_off()
        return await explicit.tool(self._live, params, why_off=why, now=lambda: self._live)

    async def command_run(self, params: Params) -> Params:
        """Run one slash command of the session."""
        why = self._why_off()
        return await explicit.command(self._live, self._opening, params, why_off=why)

    async def status_get(self, params: Params) -> Params:
        """What memory does here, with counts and usage."""
        from hindsight_core.engine.status import status

        return await status(self._opening, self._live, self._notices)

    async def close(self) -> None:
        """The host is gone: make windows durable and flush, without a model call."""
        await self._leave("crash")

    async def _open(self, opening: Opening) -> tuple[Opening, list[str]]:
        from hindsight_core.engine.check import check
        from hindsight_core.runtime import Runtime

        if opening.loaded is None:
            raise AssertionError("an active session has a configuration")
        bridge = self._outlet.bridge(opening.capabilities.names)
        try:
            runtime = Runtime(
                opening.loaded, clock=self._clock, bridge=bridge, env=self._env, hooks=opening.hooks
            )
            live = LiveSession(
                opening, runtime, notices=self._notices, host=self._host, bridge=bridge
            )
            live.spans.listen(self._outlet.notify)
            live.watch.listen(self._outlet.notify)
            live.steers.listen(self._outlet.notify)
            if not opening.capabilities.spawned:
                live.tools.describe()
            problems = [*await check(runtime), *runtime.problems]
        except Exception as error:
            if not isinstance(error, HindsightError):
                logger.exception("the session could not be opened")
            self._opening = broken = opening.off(str(error) or type(error).__name__)
            return broken, []
        self._live = live
        self.limits = limits(runtime.settings, self._ceiling)
        return opening, problems

    async def _leave(self, reason: str, *, granted: object = None) -> int:
        live, self._live = self._live, None
        if live is None:
            return 0
        bound = at_end(self.limits, live.runtime.settings, granted=granted)
        try:
            async with asyncio.timeout(bound):
                return await live.end(reason, timeout_s=bound * 0.9)
        except Exception as error:
            # Nothing is lost: what was not stored is in the journal or in the queue.
            logger.exception("session end failed")
            self._notices.trouble("state", f"The session's end took too long or failed: {error}")
            return 1
        finally:
            with suppress(TimeoutError):
                async with asyncio.timeout(_CLOSE_S):
                    await live.runtime.close()

    async def _safely(self, job: Awaitable[object]) -> None:
        """Fail open: an error of ours is logged and told, never a veto."""
        try:
            await job
        except HindsightError as error:
            self._notices.trouble("memory", str(error))
        except Exception as error:
            logger.exception("memory failed")
            self._notices.trouble("memory", f"{type(error).__name__}: {error}")

    def _why_off(self) -> str:
        if self._opening is None:
            return "not initialized"
        if self._ended:
            return "the session has ended"
        return self._opening.reason or self._opening.state

    def _tell(self, level: str, text: str) -> None:
        self._outlet.notify("notify", {"level": level, "text": text})


def _text(params: Mapping[str, Any], name: str) -> str | None:
    value = params.get(name)
    return value if isinstance(value, str) else None
