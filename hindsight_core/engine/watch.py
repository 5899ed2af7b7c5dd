"""Watches one session and tells its host whenever the widget changes (pi/U-47, pi/U-48)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hindsight_core.engine.widget import WAITING, Drawn, UserFragment, WidgetState, draw
from hindsight_core.errors import HindsightError

if TYPE_CHECKING:
    from hindsight_core.engine.live import LiveSession
    from hindsight_core.memorize.report import MemorizeReport
    from hindsight_core.turns import RecallOutcome

Notify = Callable[[str, dict[str, Any]], None]
logger = logging.getLogger("hindsight_core.engine")
_OPENING = ("startup", "new", "resume", "fork")


class Watch:
    """The widget of one session.

    Args:
        live: The session.
    """

    def __init__(self, live: LiveSession) -> None:
        self._live = live
        self._state = WidgetState(live.runtime.bank_id)
        self._notify: Notify | None = None
        self._told: Drawn | None = None
        self._poll: asyncio.Task[None] | None = None
        self._runs = 0

    def listen(self, notify: Notify) -> None:
        """Send changes to the host, if it shows them and the session is more than its tools."""
        opening = self._live.opening
        if opening.capabilities.status and opening.state == "active":
            self._notify = notify

    @property
    def drawn(self) -> Drawn:
        """The line as it is now."""
        settings = self._live.runtime.settings.status
        state = replace(self._state, recalls=self._live.brings_back, memorizes=self._live.memorizes)
        return draw(state, style=settings.style, width=settings.max_length)

    # -- what happens ----------------------------------------------------------------------------
    def start(self, reason: str) -> None:
        """The session begins: look at the bank, and again every ``status.refresh_ms``."""
        self.changed()
        if self._notify is not None and self._poll is None:
            self._poll = asyncio.create_task(self._look_on(reason))

    async def stop(self) -> None:
        """The session ends; nothing of this holds a process open."""
        if self._poll is not None:
            self._poll.cancel()
            with suppress(asyncio.CancelledError):
                await self._poll
            self._poll = None

    def changed(self, **fields: Any) -> None:  # noqa: ANN401 - those of `WidgetState`
        """Something that the line depends on has changed."""
        self._state = replace(self._state, **fields)
        if self._notify is None or (drawn := self.drawn) == self._told:
            return
        self._told = drawn
        self._notify("status/changed", {**drawn.wire(), "state": self._live.opening.state})

    @contextmanager
    def recalling(self) -> Iterator[None]:
        """A recall is under way."""
        self._runs += 1
        self.changed(busy=True, action=WAITING, failed=False)
        try:
            yield
        finally:
            self._runs -= 1

    def recalled(self, outcome: RecallOutcome) -> None:
        """A turn has its answer."""
        if self._live.opening.capabilities.spawned:
            return  # Nobody sees a line of a process that ends with its answer.
        from hindsight_core.engine.widget import recall_said
        from hindsight_core.recall.outcomes import query_texts

        said, failed = recall_said(outcome, " | ".join(query_texts(outcome)))
        self._acted(said, failed=failed)

    @contextmanager
    def memorizing(self, reason: str) -> Iterator[None]:
        """A memorize run is under way."""
        self._runs += 1
        self.changed(busy=True, action=f"↗ {reason} → memory", failed=False)
        try:
            yield
        finally:
            self._runs -= 1
            self.changed(busy=self._runs > 0)

    def memorized(self, reports: Sequence[MemorizeReport]) -> None:
        """What a memorize run came to."""
        retired = sum(len(report.retired) for report in reports)
        said, failed = memorize_said(reports)
        self._acted(said, failed=failed, retired=self._state.retired + retired)
        self.look()

    def memorize_failed(self, why: str) -> None:
        """A memorize run has broken off."""
        self._acted(f"↗! {why}", failed=True)

    def called(self, tool: str, arguments: Mapping[str, Any], details: Mapping[str, Any]) -> None:
        """The agent has used a tool."""
        outcome, query = details.get("outcome"), str(arguments.get("query") or "")
        if tool == "hindsight_reflect":
            said = {"ok": "↙ reflect · answered", "failed": "↙! reflect failed"}
            text = said.get(str(outcome), "↙ reflect · no answer")
            self._acted(f"{text} · {query}", failed=outcome == "failed")
        elif tool == "hindsight_retain" and outcome != "failed":
            self._acted(f"↗ {outcome} 1 note", failed=False)
            self.look()
        elif tool == "hindsight_forget" and outcome == "retired":
            self.changed(retired=self._state.retired + 1)
            self.look()

    def user(self, fragment: UserFragment | None) -> None:
        """The facts about the user stand otherwise."""
        if fragment is not None:
            self._acted(fragment.said, failed=False, user=fragment)
        else:
            self.changed(user=None)

    def look(self) -> None:
        """Ask the bank for its counts soon."""
        if self._notify is not None and self._poll is not None:
            self._again.set()

    # -- the bank --------------------------------------------------------------------------------
    async def _look_on(self, reason: str) -> None:
        live, every = self._live, self._live.runtime.settings.status.refresh_ms / 1000
        self._again = asyncio.Event()
        if self._state.health == "unknown":
            self.changed(health="checking")
        ready = await self._look(ensure=not live.runtime.read_only)
        if ready and reason in _OPENING and live.runtime.settings.status.notify_startup:
            self._say("info", f'bank "{live.runtime.bank_id}" ready')
        while True:
            # Not wait_for: until Python 3.12 it can lose a cancellation.
            with suppress(TimeoutError):
                async with asyncio.timeout(every):
                    await self._again.wait()
            self._again.clear()
            await self._look()

    async def _look(self, *, ensure: bool = False) -> bool:
        bank = self._live.runtime.bank
        try:
            if ensure:
                await bank.ensure()
            stats = await bank.stats()
        except HindsightError as error:
            self.changed(health="error", error=str(error))
            if ensure:
                self._live.notices.bank_away("bank", str(error))
            return False
        except Exception as error:
            logger.exception("counts of the bank")
            self.changed(health="error", error=f"{type(error).__name__}: {error}")
            return False
        self._live.recalling.counts = stats
        if self._state.health == "error":
            self._live.notices.over("bank", "The bank is back.")
        self.changed(health="ok", error=None, documents=stats.documents, facts=stats.facts)
        return True

    def _acted(self, said: str, *, failed: bool, **fields: Any) -> None:  # noqa: ANN401
        self.changed(busy=self._runs > 0, action=said, failed=failed, **fields)

    def _say(self, level: str, text: str) -> None:
        if self._notify is not None:
            self._notify("notify", {"level": level, "text": text})


def memorize_said(reports: Sequence[MemorizeReport]) -> tuple[str, bool]:
    """What a memorize run came to, and whether it failed (pi/U-45)."""
    failed = next((report for report in reports if report.outcome == "failed"), None)
    if failed is not None:
        return f"↗! {failed.reason}", True
    stored = [report for report in reports if report.outcome == "stored"]
    if stored:
        lines = sum(len(report.stored) for report in stored)
        number = len({report.document_id for report in stored})
        docs, what = "doc" if number == 1 else "docs", "line" if lines == 1 else "lines"
        return f"↗ stored {number} {docs} · {lines} {what}", False
    if any(report.outcome == "queued" for report in reports):
        return "↗ queued until the bank is back", False
    return "↗ nothing new to store", False
