"""One session of an agent whose events are processes: its engine, its adapter, its memo."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hindsight_core.daemon.outlet import NoOutlet
from hindsight_core.engine.core import MemoryEngine
from hindsight_core.errors import HindsightError
from hindsight_core.services import Clock, utc_now

if TYPE_CHECKING:
    from hindsight_core.host_hooks import HookHost, HookSession
    from hindsight_core.state.hook_sessions import HookSessions

logger = logging.getLogger("hindsight_core.daemon")


class HookedSession(NoOutlet):
    """Answers the hooks of one session, in this process as long as it lives.

    Args:
        host: The agent's name.
        host_object: Its entry point.
        session: Which session it is.
        env: The environment of its first hook, for configuration.
        memos: Keeps the adapter's memo.
        resident: Whether this process stays for the next hooks.
        clock: Aware UTC now.
    """

    def __init__(
        self,
        *,
        host: str,
        host_object: HookHost,
        session: HookSession,
        env: Mapping[str, str],
        memos: HookSessions,
        resident: bool,
        clock: Clock = utc_now,
    ) -> None:
        self.host = host
        self.session = session
        self.env = env
        self.memo: dict[str, Any] = {}
        self.ended = False
        self._answering = 0
        self._memos = memos
        self._kept = ""
        self._loading: asyncio.Task[None] | None = None
        self.engine = MemoryEngine(host=host, env=env, outlet=self, clock=clock)
        self.adapter = host_object.hook_adapter(self.engine, session, self.memo, resident=resident)
        self.engine.lower_limits(self.adapter.limits)

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """From the engine: what the person must know waits for a reply that can carry it."""
        if method == "notify":
            self.adapter.tell(str(params.get("level")), str(params.get("text")))

    @property
    def busy(self) -> bool:
        """Whether a hook waits for its answer."""
        return self._answering > 0

    async def answer(self, event: str, payload: dict[str, Any]) -> bytes:
        """What the hook's process prints; never raises."""
        self._answering += 1
        try:
            await self._load()
            actions = await self.adapter.event(event, payload)
        except Exception:
            logger.exception("hook %s %s failed", self.host, event)
            return b"{}"
        finally:
            self._answering -= 1
        reply: object = {}
        for action in actions:
            if action.get("type") == "reply":
                reply = action.get("reply")
            elif action.get("type") == "ended":
                self.ended = True
        return json.dumps(reply if isinstance(reply, dict) else {}).encode()

    async def settle(self) -> None:
        """Finish what goes on behind the replies, and keep the memo."""
        try:
            await self.adapter.settle()
        except Exception:
            logger.exception("hooks of %s: work behind a reply failed", self.host)
        text = json.dumps(self.memo, sort_keys=True)
        if text == self._kept:
            return
        try:
            await self._memos.keep(self.host, self.session.id, await self._clean())
            self._kept = text
        except HindsightError as error:
            # state.db is rebuildable: the next process begins the session anew.
            logger.warning("the session's memo could not be kept: %s", error)
            from hindsight_core.daemon.spare import keep_spare_memo

            keep_spare_memo(self.host, self.session.id, dict(self.memo))

    async def _clean(self) -> dict[str, Any]:
        """The memo as it may be on disk: a prompt whose turn has not ended crosses our boundary."""
        memo, live = dict(self.memo), self.engine.session[1]
        if isinstance(said := memo.get("prompt"), str):
            memo["prompt"] = await live.modes.keepable(said) if live is not None else ""
        return memo

    async def close(self) -> None:
        """No more hooks come, or not to this process: everything becomes durable."""
        await self.settle()
        await self.engine.close()

    async def _load(self) -> None:
        """Once; hooks that come side by side wait for it."""
        if self._loading is None:
            self._loading = asyncio.create_task(self._read())
        await asyncio.shield(self._loading)

    async def _read(self) -> None:
        try:
            found = await self._memos.load(self.host, self.session.id)
        except HindsightError as error:
            logger.warning("the session's memo could not be read: %s", error)
            from hindsight_core.daemon.spare import spare_memo

            found = spare_memo(self.host, self.session.id)
        self.memo.update(found)
        self._kept = json.dumps(self.memo, sort_keys=True)


def payload_of(body: bytes) -> dict[str, Any]:
    """What the agent wrote; empty for anything that is no JSON object."""
    try:
        value = json.loads(body.decode("utf-8", "replace").removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
