"""``memory_feedback``: rates one memory of one steer, once (am/A-FB-4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from hindsight_core.engine.tools.base import TEXT, BadArgument, ToolResult, schema, text

if TYPE_CHECKING:
    from hindsight_core.engine.live import LiveSession
    from hindsight_core.memorize.lifecycle.memory import Judged

OUTCOMES: tuple[Literal["useful", "unhelpful"], ...] = ("useful", "unhelpful")
_REFUSED = {
    "unknown_token": "no steer has this token",
    "not_in_steer": "this memory was not in that steer",
    "duplicate": "it has been rated for that steer already",
    "session_limit": "it has been rated often enough in this session",
    "inactive": "the memory is not active any more",
}


class MemoryFeedbackTool:
    """Counts what the agent says about a memory that it was sent."""

    name = "memory_feedback"
    parameters = schema(
        {
            "steerToken": TEXT,
            "memoryId": TEXT,
            "outcome": {"type": "string", "enum": list(OUTCOMES)},
            "reason": TEXT,
        },
        "steerToken",
        "memoryId",
        "outcome",
        "reason",
    )

    def __init__(self, live: LiveSession) -> None:
        self._live = live

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """The new confidence, or why it does not count."""
        runtime, session = self._live.runtime, self._live.opening.session.id
        token, memory, reason = (
            text(arguments, name) for name in ("steerToken", "memoryId", "reason")
        )
        given = text(arguments, "outcome")
        outcome = next((known for known in OUTCOMES if known == given), None)
        if not token or not memory or outcome is None:
            raise BadArgument("`steerToken`, `memoryId` and `outcome` are needed, as in the steer.")
        if not reason:
            raise BadArgument("`reason` is needed: what the memory changed, or why it is wrong.")
        own = memory.removeprefix(f"{runtime.bank_id}:")
        judged = await runtime.active.feedback(
            token,
            own,
            outcome=outcome,
            reason=runtime.sanitiser.text(reason),
            session_id=session,
        )
        if judged.accepted:
            self._live.steers.rated(token, outcome)
        return _result(judged, memory=f"{runtime.bank_id}:{own}", outcome=outcome)


def _result(judged: Judged, *, memory: str, outcome: str) -> ToolResult:
    details = {"accepted": judged.accepted, "memory": memory, "rated": outcome}
    if not judged.accepted or judged.memory is None:
        why = _REFUSED.get(str(judged.reason), str(judged.reason))
        details |= {"outcome": "refused", "reason": judged.reason}
        return ToolResult(f"not counted: {why}", details=details)
    confidence = judged.memory.record.confidence
    details |= {"outcome": "ok", "confidence": confidence, "retired": judged.retired}
    said = f"counted as {outcome}: its confidence is now {confidence:.2f}"
    return ToolResult(said + (", and it is retired" if judged.retired else ""), details=details)
