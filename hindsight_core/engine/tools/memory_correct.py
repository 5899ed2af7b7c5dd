"""``memory_correct``: puts one wrong memory of an agent right (am/A-CORR)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hindsight_core.engine.tools.base import TEXT, BadArgument, ToolResult, schema, text
from hindsight_core.errors import ConfigError

if TYPE_CHECKING:
    from hindsight_core.engine.live import LiveSession


class MemoryCorrectTool:
    """Changes what an agent stored; what a user said stays as it is."""

    name = "memory_correct"
    parameters = schema(
        {"memoryId": TEXT, "correctedText": TEXT, "reason": TEXT},
        "memoryId",
        "correctedText",
        "reason",
    )

    def __init__(self, live: LiveSession) -> None:
        self._live = live

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """The memory as it is now."""
        runtime = self._live.runtime
        names = ("memoryId", "correctedText", "reason")
        memory, corrected, reason = (text(arguments, name) for name in names)
        if not memory or not corrected or not reason:
            raise BadArgument("`memoryId`, `correctedText` and `reason` are all needed.")
        own = memory.removeprefix(f"{runtime.bank_id}:")
        session = self._live.opening.session.id
        try:
            now = await runtime.active.correct(
                own, text=corrected, reason=reason, session_id=session
            )
        except ConfigError as error:
            raise BadArgument(f"Not corrected: {error}.") from None
        details = {
            "outcome": "corrected",
            "facts": [f"{runtime.bank_id}:{now.fact.id}"],
            "confidence": now.record.confidence,
        }
        return ToolResult(f"corrected: {now.fact.text}", details=details)
