"""``hindsight_retain``: keep one fact now (pi/G-01, protocol.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hindsight_core.engine.tools.base import TEXT, BadArgument, ToolResult, schema, text

if TYPE_CHECKING:
    from hindsight_core.engine.live import LiveSession
    from hindsight_core.memorize.runner import MemorizeReport

KINDS = ("fact", "decision", "constraint", "knowhow", "pitfall")
_SAID = {
    "stored": "retained",
    "known": "already known",
    "queued": "queued: the bank is away, it is stored when it is back",
}


class RetainTool:
    """Stores what the agent has learned, durable before it answers."""

    name = "hindsight_retain"
    parameters = schema(
        {"content": TEXT, "kind": {"type": "string", "enum": list(KINDS), "default": "fact"}},
        "content",
    )

    def __init__(self, live: LiveSession) -> None:
        self._live = live

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """``retained``, ``already known`` or ``queued``; an error result when it failed."""
        content, kind = note(arguments)
        live, runtime = self._live, self._live.runtime
        report = await runtime.memorizer.retain_note(
            content,
            kind=kind,
            source="agent-note",
            session_id=live.opening.session.id,
            host=live.host,
        )
        return kept(report, bank=runtime.bank_id)


def note(arguments: Mapping[str, Any]) -> tuple[str, str]:
    """Text and kind of what is to be kept; raises `BadArgument`."""
    content = text(arguments, "content")
    if not content:
        raise BadArgument("`content` is needed: one self-contained sentence.")
    kind = text(arguments, "kind") or "fact"
    if kind not in KINDS:
        raise BadArgument(f"`kind` must be one of {', '.join(KINDS)}.")
    return content, kind


def kept(report: MemorizeReport, *, bank: str) -> ToolResult:
    """What became of the note, in protocol.md's form."""
    details = {
        "outcome": report.outcome,
        "document": report.document_id,
        "facts": [f"{bank}:{fact.id}" for fact in report.stored],
    }
    if report.outcome == "failed":
        return ToolResult(f"Not stored: {report.reason}", is_error=True, details=details)
    return ToolResult(_SAID.get(report.outcome, report.reason or report.outcome), details=details)
