"""``memory_search``: a deliberate look into active memory, with where each memory is from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hindsight_core.engine.tools.base import TEXT, BadArgument, ToolResult, schema, text, whole
from hindsight_core.memory import Hit
from hindsight_core.recall.clip import one_line
from hindsight_core.recall.escape import escape
from hindsight_core.recall.wire import hit_wire

if TYPE_CHECKING:
    from hindsight_core.engine.live import LiveSession
    from hindsight_core.memorize.lifecycle.ranking import Weighed

SCOPES = ("global", "project", "both")
TOP, DEFAULT, BREADTH, MOST = 20, 8, 5, 100


class MemorySearchTool:
    """Searches by words and meaning, ranks by authority and confidence; no model is asked."""

    name = "memory_search"
    parameters = schema(
        {
            "query": TEXT,
            "scope": {"type": "string", "enum": list(SCOPES), "default": "both"},
            "limit": {"type": "integer", "minimum": 1, "maximum": TOP, "default": DEFAULT},
        },
        "query",
    )

    def __init__(self, live: LiveSession) -> None:
        self._runtime = live.runtime

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Memories best first, one a line with its id and provenance."""
        query, scope = text(arguments, "query"), text(arguments, "scope") or "both"
        if not query:
            raise BadArgument("`query` is needed: a few concrete words.")
        if scope not in SCOPES:
            raise BadArgument(f"`scope` must be one of {', '.join(SCOPES)}.")
        limit = whole(arguments, "limit", default=DEFAULT, top=TOP)
        runtime = self._runtime
        most, hits = min(MOST, BREADTH * limit), list[Hit]()
        for bank in filter(None, (runtime.active, runtime.active.personal)):
            hits += await runtime.recall.search(query, bank=bank.bank.id, limit=most)
        weighed = await runtime.active.weigh(hits)
        found = [item for item in weighed if scope in ("both", item.record.scope)][:limit]
        lines = [_line(item) for item in found]
        details = {"outcome": "ok" if found else "empty", "hits": [_wire(item) for item in found]}
        return ToolResult("\n".join(lines) or "(no relevant memory)", details=details)


def _line(item: Weighed) -> str:
    record, told = item.record, item.record.told
    about = [told.actor, record.scope, item.hit.fact.kind, f"confidence {record.confidence:.2f}"]
    about += [f"session {told.session_id}", f"cause: {one_line(told.cause)[:200]}"]
    about += [f"why: {one_line(told.reason)[:200]}"] if told.reason else []
    return f"- {escape(item.hit.fact.text)} [{item.hit.id}] ({escape('; '.join(about))})"


def _wire(item: Weighed) -> dict[str, Any]:
    record, told = item.record, item.record.told
    return {
        **hit_wire(item.hit),
        "score": round(item.score, 4),
        "actor": told.actor,
        "scope": record.scope,
        "confidence": record.confidence,
        "session": told.session_id,
        "cause": told.cause,
        "reason": told.reason,
    }
