"""One live session: its path, its turns, its writes (protocol.md, Rules of the lifecycle)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hindsight_core.engine.path import LivePath
from hindsight_core.engine.tools import Tools
from hindsight_core.engine.work import Work
from hindsight_core.errors import HindsightError
from hindsight_core.turns import Block, RecallOutcome, Turn

if TYPE_CHECKING:
    from hindsight_core.engine.notices import Notices
    from hindsight_core.engine.opening import Opening
    from hindsight_core.runtime import Runtime
    from hindsight_core.services import BridgeAccess
    from hindsight_core.transcript.entry import Entry

logger = logging.getLogger("hindsight_core.engine")
ENDS_WORK = ("quit", "new")


class LiveSession:
    """What the engine does for one session that is active or has tools only.

    Args:
        opening: Who is speaking and what memory may do here.
        runtime: The opened configuration.
        notices: Where trouble is told.
        host: The agent program's name.
        bridge: For what only the host knows.
    """

    def __init__(
        self,
        opening: Opening,
        runtime: Runtime,
        *,
        notices: Notices,
        host: str,
        bridge: BridgeAccess,
    ) -> None:
        self.opening = opening
        self.runtime = runtime
        self.path = LivePath()
        self.work = Work(runtime, notices=notices, host=host, session_id=opening.session.id)
        self.tools = Tools(runtime, session_id=opening.session.id)
        self._notices = notices
        self._host = host
        self._bridge = bridge
        self._turns = 0

    @property
    def is_child(self) -> bool:
        """A sub-agent: a small recall and tools, nothing automatic besides."""
        return self.opening.session.parent_id is not None

    @property
    def recalls(self) -> bool:
        """Whether turns recall by themselves here."""
        settings = self.runtime.settings.recall
        return self.opening.state == "active" and settings.enabled and settings.mode != "off"

    @property
    def memorizes(self) -> bool:
        """Whether anything is written by itself here."""
        return (
            self.opening.state == "active"
            and self.runtime.settings.memorize.enabled
            and not self.runtime.read_only
            and not self.is_child
        )

    async def started(self, reason: str, params: Mapping[str, Any]) -> None:
        """A session begins, or its context was replaced."""
        self.path.update(params)
        if reason == "compact":
            await self.forget_shown()
        if reason in ("startup", "new") and self._new_context:
            await self.forget_shown()
        if self.memorizes:
            await self._lease()
            self.work.start()

    async def turn_start(self, turn_id: str, prompt: str, params: Mapping[str, Any]) -> RecallOutcome:
        """Recall for a prompt, within ``recall.timeout_ms`` whatever happens."""
        if not self.recalls:
            return RecallOutcome("skipped", reason=self._why_no_recall())
        if not await self._follow(params):
            return RecallOutcome("skipped", reason="resync")
        limit = self.runtime.settings.recall.timeout_ms / 1000
        try:
            async with asyncio.timeout(limit):
                turn = await self._turn(turn_id, prompt)
                outcome = await self.runtime.recall.run(turn)
        except TimeoutError:
            outcome = RecallOutcome("failed", reason=f"no answer within {limit:g} s")
        except HindsightError as error:
            outcome = RecallOutcome("failed", reason=str(error))
        except Exception as error:
            logger.exception("recall failed")
            outcome = RecallOutcome("failed", reason=f"{type(error).__name__}: {error}")
        await self._after(turn_id, prompt, outcome)
        return outcome

    async def turn_end(self, params: Mapping[str, Any]) -> None:
        """Make the turn durable; memorize every so many turns if set."""
        if not await self._follow(params) or not self.memorizes:
            return
        await self._journal(self.path.entries)
        self._turns += 1
        every = self.runtime.settings.memorize.every_turns
        if every and self._turns % every == 0:
            self.work.memorize(self.path.entries, reason="turns")

    async def compact_before(self, params: Mapping[str, Any]) -> None:
        """Memorize what is about to be discarded, from a snapshot, in the background."""
        if not self.memorizes:
            return
        entries = self.path.discarded(params)
        await self._journal(entries)
        self.work.memorize(entries, reason="compact")

    async def forget_shown(self) -> None:
        """After a compaction the model has lost what was shown (pi/R-16, br/BR-65)."""
        try:
            await self.runtime.sessions.clear_shown(self.runtime.bank_id, self.opening.session.id)
        except HindsightError as error:
            self._notices.trouble("state", str(error))

    async def end(self, reason: str, *, timeout_s: float) -> int:
        """Memorize on quit and new, flush; how much is left, all of it durable."""
        if self.memorizes:
            if reason in ENDS_WORK and self.path.entries:
                await self._journal(self.path.entries)
                self.work.memorize(self.path.entries, reason=f"shutdown:{reason}")
            pending = await self.work.finish(timeout_s=timeout_s)
            if reason != "reload":
                await self._release()
            return pending
        return await self.work.pending() if self.opening.state == "active" else 0

    @property
    def _new_context(self) -> bool:
        return not self.path.entries

    async def _turn(self, turn_id: str, prompt: str) -> Turn:
        runtime = self.runtime
        shown: frozenset[str] = frozenset()
        if self.opening.capabilities.blocks != "turn":
            shown = await runtime.sessions.shown(runtime.bank_id, self.opening.session.id)
        return Turn(
            id=turn_id,
            session_id=self.opening.session.id,
            prompt=runtime.sanitiser.text(prompt),
            entries=tuple(runtime.sanitiser.entries(self.path.entries)),
            banks=(runtime.bank_id,),
            shown=shown,
            is_child=self.is_child,
        )

    async def _after(self, turn_id: str, prompt: str, outcome: RecallOutcome) -> None:
        if outcome.outcome == "failed":
            self._notices.trouble("recall", f"Nothing was recalled: {outcome.reason}")
        elif outcome.outcome != "skipped":
            self._notices.over("recall", "Recall works again.")
        if outcome.block is None or self.opening.capabilities.blocks == "turn":
            return
        from hindsight_core.recall.shown import keys

        try:
            await self.runtime.sessions.add_shown(
                self.runtime.bank_id, self.opening.session.id, keys(outcome.hits)
            )
        except HindsightError as error:
            self._notices.trouble("state", str(error))

    async def _follow(self, params: Mapping[str, Any]) -> bool:
        if self.path.update(params):
            return True
        if "entries" not in self._bridge.capabilities:
            return False
        try:
            reply = await self._bridge.request("host/entries", {})
        except HindsightError:
            return False
        entries = reply.get("entries")
        self.path.replace(entries if isinstance(entries, list) else [])
        return True

    async def _journal(self, entries: Sequence[Entry]) -> None:
        clean = self.runtime.sanitiser.entries(entries)
        try:
            await self.runtime.journal.append(
                self.runtime.bank_id, self.opening.session.id, clean, host=self._host
            )
        except HindsightError as error:
            self._notices.trouble("state", f"This turn is not safe on disk: {error}")

    async def _lease(self) -> None:
        try:
            await self.runtime.journal.lease(self.runtime.bank_id, self.opening.session.id)
        except HindsightError as error:
            self._notices.trouble("state", str(error))

    async def _release(self) -> None:
        try:
            await self.runtime.journal.release(self.runtime.bank_id, self.opening.session.id)
        except HindsightError as error:
            self._notices.trouble("state", str(error))

    def _why_no_recall(self) -> str:
        if self.opening.state != "active":
            return self.opening.reason or self.opening.state
        return "automatic recall is off"


def block_wire(block: Block) -> dict[str, Any]:
    """A block as protocol.md's `Block`."""
    wire: dict[str, Any] = {
        "kind": block.kind,
        "placement": block.placement,
        "text": block.text,
        "memories": [
            {"id": fact_id} if score is None else {"id": fact_id, "score": score}
            for fact_id, score in block.memories
        ],
    }
    if block.display is not None:
        wire["display"] = block.display
    return wire
