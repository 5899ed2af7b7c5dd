"""The sessions that live in the daemon, and what is left to do after the last one."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from hindsight_core.daemon.drain import AFTER_LAST_S, drain
from hindsight_core.daemon.session import HookedSession, payload_of
from hindsight_core.host_hooks import HookHost, HookSession
from hindsight_core.services import Clock, utc_now

if TYPE_CHECKING:
    from pathlib import Path

MAX_LIVE = 32
# A session that says nothing for an hour is closed; its next hook opens it again.
SILENT_S = 3600.0
_FINISH_S = 90.0
logger = logging.getLogger("hindsight_core.daemon")
Key = tuple[str, str]


class LiveSessions:
    """Finds the session of each hook, opens and closes sessions, drains behind them.

    Args:
        state: state.db of this home.
        clock: Aware UTC now.
    """

    def __init__(self, state: Path, *, clock: Clock = utc_now) -> None:
        from hindsight_core.state.hook_sessions import HookSessions

        self._memos = HookSessions(state, clock)
        self._clock = clock
        self._hosts: dict[str, Any] = {}
        self._live: OrderedDict[Key, HookedSession] = OrderedDict()
        self._heard: dict[Key, float] = {}
        self._behind: set[asyncio.Task[None]] = set()
        self._drains: dict[tuple[str, str], asyncio.Task[None]] = {}

    @property
    def busy(self) -> bool:
        """Whether a session lives, or work goes on behind one."""
        return bool(self._live or self._behind or self._drains)

    async def answer(
        self, host: str, event: str, body: bytes, *, cwd: str, env: Mapping[str, str]
    ) -> bytes:
        """What one hook prints; never raises."""
        try:
            host_object = self._host(host)
            payload = payload_of(body)
            if host_object is None or not payload:
                return b"{}"
            payload.setdefault("cwd", cwd)
            where = host_object.session_of(event, payload)
            if where is None:
                return b"{}"
            session = self._session(host, host_object, where, env)
            reply = await session.answer(event, payload)
            self._go_on(self._after((host, where.id), session))
            return reply
        except Exception:
            logger.exception("hook %s %s failed", host, event)
            return b"{}"

    async def tidy(self, *, silent_s: float = SILENT_S) -> None:
        """Close what has been silent for long, and drain behind it."""
        now = asyncio.get_running_loop().time()
        for key in [key for key, heard in self._heard.items() if now - heard > silent_s]:
            if key not in self._live or not self._live[key].busy:
                self._leave(key)

    async def close(self, *, timeout_s: float) -> None:
        """Make everything durable; no model is asked."""
        for task in self._drains.values():
            task.cancel()
        sessions = [*self._live.values()]
        self._live.clear()
        waiting = [asyncio.create_task(session.close()) for session in sessions]
        waiting += [*self._behind, *self._drains.values()]
        if waiting:
            await asyncio.wait(waiting, timeout=timeout_s)
        self._memos.close()

    def _host(self, name: str) -> HookHost | None:
        from hindsight_core.errors import HindsightError
        from hindsight_core.plugins import load_host

        if name not in self._hosts:
            try:
                self._hosts[name] = load_host(name)
            except HindsightError as error:
                # Not kept: the adapter may be installed while the daemon runs.
                logger.warning("%s", error)
                return None
        found = self._hosts[name]
        return found if isinstance(found, HookHost) else None

    def _session(
        self, host: str, host_object: HookHost, where: HookSession, env: Mapping[str, str]
    ) -> HookedSession:
        key = (host, where.id)
        self._heard[key] = asyncio.get_running_loop().time()
        if key not in self._live:
            self._live[key] = HookedSession(
                host=host,
                host_object=host_object,
                session=where,
                env=env,
                memos=self._memos,
                resident=True,
                clock=self._clock,
            )
        self._live.move_to_end(key)
        idle = [other for other, live in self._live.items() if other != key and not live.busy]
        for other in idle[: max(0, len(self._live) - MAX_LIVE)]:
            self._leave(other)
        return self._live[key]

    async def _after(self, key: Key, session: HookedSession) -> None:
        """Behind a reply: finish; after the session's end, close it and drain."""
        await session.settle()
        if session.ended and self._live.get(key) is session:
            self._leave(key)

    def _leave(self, key: Key) -> None:
        session = self._live.pop(key, None)
        self._heard.pop(key, None)
        if session is not None:
            self._go_on(self._close(session))

    async def _close(self, session: HookedSession) -> None:
        try:
            async with asyncio.timeout(_FINISH_S):
                await session.close()
        except Exception:
            logger.exception("a session of %s could not be closed", session.host)
        params = session.adapter.opening
        if params is None:
            return
        # One drain a bank's folder: a later one replaces an earlier, its time begins anew.
        place = (session.host, str(params.get("cwd")))
        earlier = self._drains.pop(place, None)
        if earlier is not None:
            earlier.cancel()
        self._drains[place] = task = asyncio.create_task(self._drain(params, session))
        task.add_done_callback(lambda done: self._drained(place, done))

    async def _drain(self, params: Mapping[str, Any], session: HookedSession) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(AFTER_LAST_S + 5):
                left = await drain(params, host=session.host, env=session.env, clock=self._clock)
                if left:
                    logger.info("%s: %d writes and windows wait for later", session.host, left)

    def _drained(self, place: tuple[str, str], task: asyncio.Task[None]) -> None:
        if self._drains.get(place) is task:
            del self._drains[place]
        if not task.cancelled() and task.exception() is not None:
            logger.error("draining failed", exc_info=task.exception())

    def _go_on(self, work: Any) -> None:  # noqa: ANN401 - a coroutine
        task = asyncio.create_task(work)
        self._behind.add(task)
        task.add_done_callback(self._behind.discard)
