"""``hindsight_recall``: search the bank, or read one fact by its id (pi/G-02, protocol.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hindsight_core.engine.tools.base import (
    TEXT,
    BadArgument,
    ToolResult,
    moment,
    names,
    schema,
    text,
    whole,
)
from hindsight_core.memory import Hit, Scope, TagFilter
from hindsight_core.recall.escape import escape
from hindsight_core.recall.search import clean_hits
from hindsight_core.recall.wire import hit_wire

if TYPE_CHECKING:
    from hindsight_core.engine.live import LiveSession

TOP = 50


class RecallTool:
    """Searches by words and meaning; no model is asked."""

    name = "hindsight_recall"
    parameters = schema(
        {
            "query": TEXT,
            "limit": {"type": "integer", "minimum": 1, "maximum": TOP, "default": 10},
            "kind": TEXT,
            "since": TEXT,
            "until": TEXT,
            "tags": {"type": "array", "items": TEXT},
            "file": TEXT,
            "id": TEXT,
        }
    )

    def __init__(self, live: LiveSession) -> None:
        self.runtime = live.runtime

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Facts best first, one a line with its date and id."""
        if fact_id := text(arguments, "id"):
            return await self._by_id(fact_id)
        query = text(arguments, "query")
        if not query:
            raise BadArgument("`query` is needed: a few concrete words, or give an `id`.")
        hits = await self.runtime.recall.search(
            query,
            bank=self.runtime.bank_id,
            limit=self.limit(arguments),
            scope=scope_of(arguments),
        )
        return found(hits)

    def limit(self, arguments: Mapping[str, Any]) -> int:
        """How many facts at most."""
        return whole(arguments, "limit", default=10, top=TOP)

    async def _by_id(self, fact_id: str) -> ToolResult:
        runtime = self.runtime
        fact = await runtime.bank.get_fact(fact_id.removeprefix(f"{runtime.bank_id}:"))
        if fact is None:
            return found([])
        hit = Hit(fact=fact, bank=runtime.bank_id, score=1.0)
        limit = runtime.settings.security.max_fact_characters
        return found(clean_hits([hit], runtime.sanitiser, limit=limit))


def found(hits: Sequence[Hit]) -> ToolResult:
    """Hits as text and structure; none is an answer too."""
    details = {"outcome": "ok" if hits else "empty", "hits": [hit_wire(hit) for hit in hits]}
    lines = [_line(hit) for hit in hits]
    return ToolResult("\n".join(lines) or "(no relevant memory)", details=details)


def _line(hit: Hit) -> str:
    when = hit.fact.timestamp
    notes = [when.date().isoformat()] if when else []
    notes += [f"missing: {escape(path)}" for path in hit.missing]
    notes += [f"changed: {escape(path)}" for path in hit.changed]
    said = f" ({'; '.join(notes)})" if notes else ""
    return f"- {escape(hit.fact.text)}{said} [{hit.id}]"


def scope_of(arguments: Mapping[str, Any]) -> Scope:
    """Which part of the bank is asked for."""
    kind = text(arguments, "kind")
    tags = names(arguments, "tags")
    return Scope(
        kinds=(kind,) if kind else (),
        tags=TagFilter(tags=tags, match="any_strict") if tags else None,
        since=moment(arguments, "since"),
        until=moment(arguments, "until"),
        file=text(arguments, "file"),
    )
