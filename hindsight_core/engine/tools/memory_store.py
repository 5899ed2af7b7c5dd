"""``memory_store_result``: keeps one finding of a long investigation (am/A-ASST-4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from hindsight_core.engine.tools.base import TEXT, BadArgument, ToolResult, schema, text
from hindsight_core.errors import ConfigError

if TYPE_CHECKING:
    from hindsight_core.engine.live import LiveSession
    from hindsight_core.memorize.capture.writer import Written

KINDS = ("fact", "skill_workflow")
SCOPES: tuple[Literal["project", "global"], ...] = ("project", "global")


class MemoryStoreTool:
    """Asks whether the finding may be kept; duration alone is no reason."""

    name = "memory_store_result"
    parameters = schema(
        {
            "text": TEXT,
            "kind": {"type": "string", "enum": list(KINDS)},
            "scope": {"type": "string", "enum": list(SCOPES)},
            "confidence": {"type": "number", "minimum": 0, "maximum": 1},
            "reason": TEXT,
        },
        "text",
        "kind",
        "scope",
        "confidence",
        "reason",
    )

    def __init__(self, live: LiveSession) -> None:
        self._live = live

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """What became of it; too early, or no investigation at all, is an error."""
        from hindsight_core.memorize.capture.candidate import Candidate

        finding, reason = text(arguments, "text"), text(arguments, "reason")
        kind = text(arguments, "kind")
        scope = next((known for known in SCOPES if known == arguments.get("scope")), None)
        if not finding or not reason:
            raise BadArgument("`text` and `reason` are needed: what was found, why it was costly.")
        if kind not in KINDS or scope is None:
            raise BadArgument(f"`kind` is {' or '.join(KINDS)}, `scope` {' or '.join(SCOPES)}.")
        confidence = _confidence(arguments)
        candidate = Candidate(finding, kind, scope, confidence, evidence=finding, why=reason)
        try:
            written = await self._live.active.store_result(candidate)
        except ConfigError as error:
            raise BadArgument(f"Not stored: {error}.") from None
        return _result(written, bank=self._live.runtime.bank_id)


def _confidence(arguments: Mapping[str, Any]) -> float:
    value = arguments.get("confidence")
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise BadArgument("`confidence` must be a number from 0 to 1: how sure you are.")
    return float(value)


def _result(written: Written, *, bank: str) -> ToolResult:
    if written.memory is None:
        refused = {"outcome": "refused", "reason": written.reason}
        return ToolResult(f"not stored: {written.reason}", details=refused)
    fact = written.memory.fact
    did = "stored" if written.created else "put in the place of what was known"
    details = {"outcome": written.outcome, "facts": [f"{bank}:{fact.id}"]}
    return ToolResult(f"{did}: {fact.text} [{bank}:{fact.id}]", details=details)
