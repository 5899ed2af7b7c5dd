"""``/memory-status`` and ``/memory-stats``: how active memory stands in this session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindsight_core.engine.commands.active.base import ActiveCommand
from hindsight_core.engine.commands.base import CommandResult
from hindsight_core.errors import HindsightError

if TYPE_CHECKING:
    from hindsight_core.engine.live import LiveSession


class MemoryStatus(ActiveCommand):
    """Store, models, what is automatic, the latest look and the latest error."""

    name = "memory-status"
    description = "store, models, counters, latest recall and error"

    async def act(self, arguments: str) -> CommandResult:
        """Lines of what there is; no configuration of a provider, no secret."""
        live, runtime = self.live, self.live.runtime
        settings = runtime.settings
        looked, error = live.steers.looked, live.notices.last_error
        steers = "on" if live.steers.applies else "off"
        capture = "on" if live.memorizes and settings.capture.enabled else "off"
        recalled = looked and f"{looked.outcome}{f' ({looked.reason})' if looked.reason else ''}"
        lines = [
            f"memory:{standing(live)}",
            f"bank {runtime.bank_id} ({runtime.loaded.bank.backend}): {await self._store()}",
            f"project {runtime.active.project}",
            f"models {_available(live)} · embeddings {settings.embeddings.provider}",
            f"steers {steers} · capture {capture}",
            f"latest recall: {recalled or 'none yet'}",
            f"latest error: {error or 'none'}",
            f"activity log: {live.activity.path or 'none for this session'}",
            live.steers.stats.line,
        ]
        return CommandResult("\n".join(lines), "warning" if error else "info")

    async def _store(self) -> str:
        runtime = self.live.runtime
        try:
            stats = await runtime.bank.stats()
        except HindsightError as error:
            return f"not answering: {error}"
        waiting = await runtime.queue.pending(runtime.bank_id)
        said = f"{stats.facts} facts in {stats.documents} documents"
        return said + (f", {waiting} writes waiting" if waiting else "")


class MemoryStats(ActiveCommand):
    """What this session came to."""

    name = "memory-stats"
    description = "what this session made, looked for, sent and rated"

    async def act(self, arguments: str) -> CommandResult:
        """Counters of the session over all its processes, and tokens of this one."""
        usage = self.live.runtime.meter.snapshot()
        tokens = [
            f"{stage}: {used['calls']} calls, {used['inputTokens']} + {used['outputTokens']} tokens"
            for stage, used in sorted(usage.items())
        ]
        return CommandResult("\n".join([*self.live.steers.stats.lines, *tokens]))


def standing(live: LiveSession) -> str:
    """``paused``, ``error``, ``recalling`` or ``ready``, the first that holds (am/A-TOOL)."""
    if not (live.auto.recall or live.auto.memorize):
        return "paused"
    if live.notices.last_error:
        return "error"
    return "recalling" if live.steers.busy else "ready"


def _available(live: LiveSession) -> str:
    stages = live.runtime.stages
    found = {purpose: stages.available(purpose) for purpose in ("recall", "retain")}
    return ", ".join(f"{name} {'yes' if there else 'none'}" for name, there in found.items())
