"""The agent's tools: recall, retain, reflect and forget (pi/G, protocol.md)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hindsight_core.errors import BankError, HindsightError, ProviderError, StorageError
from hindsight_core.memory import Hit, Scope, TagFilter
from hindsight_core.prompt_contexts import Tool
from hindsight_core.recall.escape import escape
from hindsight_core.recall.search import clean_hits
from hindsight_core.recall.wire import hit_wire

if TYPE_CHECKING:
    from hindsight_core.runtime import Runtime

KINDS = ("fact", "decision", "constraint", "knowhow", "pitfall")
_TEXT = {"type": "string"}
_SCHEMAS: Mapping[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "hindsight_recall": (
        {
            "query": _TEXT,
            "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10},
            "kind": _TEXT,
            "since": _TEXT,
            "until": _TEXT,
            "tags": {"type": "array", "items": _TEXT},
            "file": _TEXT,
            "id": _TEXT,
        },
        (),
    ),
    "hindsight_retain": (
        {"content": _TEXT, "kind": {"type": "string", "enum": list(KINDS), "default": "fact"}},
        ("content",),
    ),
    "hindsight_reflect": ({"query": _TEXT}, ("query",)),
    "hindsight_forget": ({"id": _TEXT, "reason": _TEXT}, ("id", "reason")),
}


@dataclass(frozen=True, slots=True)
class ToolResult:
    """Text for the model, and the structure beside it."""

    content: str
    is_error: bool = False
    details: Mapping[str, Any] = field(default_factory=dict)

    def wire(self) -> dict[str, Any]:
        """The form of ``tool/call``'s result."""
        return {"content": self.content, "isError": self.is_error, "details": dict(self.details)}


class BadArgument(HindsightError):
    """A tool argument that the agent can correct."""


class Tools:
    """The tools of one session.

    Args:
        runtime: The opened configuration.
        session_id: Noted as where a retained fact comes from.
        host: The agent program, noted with it.
    """

    def __init__(self, runtime: Runtime, *, session_id: str, host: str) -> None:
        self._runtime = runtime
        self._session_id = session_id
        self._host = host
        self._calls: dict[str, Callable[[Mapping[str, Any]], Awaitable[ToolResult]]] = {
            "hindsight_recall": self._recall,
            "hindsight_retain": self._retain,
            "hindsight_reflect": self._reflect,
            "hindsight_forget": self._forget,
        }

    def describe(self) -> list[dict[str, Any]]:
        """Name, description and JSON schema of each tool."""
        variables = Tool(
            bank=self._runtime.bank_id, language=self._runtime.settings.memorize.language
        )
        return [
            {
                "name": name,
                "description": self._runtime.prompts.render(
                    f"tools/{name}", variables
                ).text.strip(),
                "parameters": {
                    "type": "object",
                    "properties": properties,
                    "required": list(required),
                },
            }
            for name, (properties, required) in _SCHEMAS.items()
        ]

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Run one tool; every failure is a result that says so, never an exception."""
        run = self._calls.get(name)
        if run is None:
            return _failed(f"There is no tool {name!r}. Tools: {', '.join(self._calls)}.")
        try:
            return await run(arguments)
        except BadArgument as error:
            return _failed(str(error))
        except HindsightError as error:
            return _failed(f"Memory failed: {error}")

    async def _recall(self, arguments: Mapping[str, Any]) -> ToolResult:
        if fact_id := _text(arguments, "id"):
            return await self._by_id(fact_id)
        query = _text(arguments, "query")
        if not query:
            raise BadArgument("`query` is needed: a few concrete words, or give an `id`.")
        limit = arguments.get("limit", 10)
        if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
            raise BadArgument("`limit` must be a whole number from 1 to 50.")
        kind = _text(arguments, "kind")
        tags = arguments.get("tags") or ()
        if not isinstance(tags, list | tuple) or not all(isinstance(t, str) for t in tags):
            raise BadArgument("`tags` must be a list of strings.")
        scope = Scope(
            kinds=(kind,) if kind else (),
            tags=TagFilter(tags=tuple(tags), match="any_strict") if tags else None,
            since=_moment(arguments, "since"),
            until=_moment(arguments, "until"),
            file=_text(arguments, "file"),
        )
        hits = await self._runtime.recall.search(
            query, bank=self._runtime.bank_id, limit=min(limit, 50), scope=scope
        )
        return self._found(hits)

    async def _by_id(self, fact_id: str) -> ToolResult:
        fact = await self._runtime.bank.get_fact(self._own_id(fact_id))
        if fact is None:
            return self._found([])
        hit = Hit(fact=fact, bank=self._runtime.bank_id, score=1.0)
        limit = self._runtime.settings.security.max_fact_characters
        return self._found(clean_hits([hit], self._runtime.sanitiser, limit=limit))

    def _found(self, hits: Sequence[Hit]) -> ToolResult:
        lines = [self._line(hit) for hit in hits]
        details = {
            "outcome": "ok" if hits else "empty",
            "hits": [hit_wire(hit) for hit in hits],
        }
        return ToolResult("\n".join(lines) or "(no relevant memory)", details=details)

    def _line(self, hit: Hit) -> str:
        moment = hit.fact.timestamp
        date = f" ({moment.date().isoformat()})" if moment else ""
        return f"- {escape(hit.fact.text)}{date} [{hit.id}]"

    async def _retain(self, arguments: Mapping[str, Any]) -> ToolResult:
        content = _text(arguments, "content")
        if not content:
            raise BadArgument("`content` is needed: one self-contained sentence.")
        kind = _text(arguments, "kind") or "fact"
        if kind not in KINDS:
            raise BadArgument(f"`kind` must be one of {', '.join(KINDS)}.")
        report = await self._runtime.memorizer.retain_note(
            content,
            kind=kind,
            source="agent-note",
            session_id=self._session_id,
            host=self._host,
        )
        bank = self._runtime.bank_id
        details = {
            "outcome": report.outcome,
            "document": report.document_id,
            "facts": [f"{bank}:{fact.id}" for fact in report.stored],
        }
        if report.outcome == "failed":
            return ToolResult(f"Not stored: {report.reason}", is_error=True, details=details)
        said = {
            "stored": "retained",
            "known": "already known",
            "queued": "queued: the bank is away, it is stored when it is back",
        }.get(report.outcome, report.reason or report.outcome)
        return ToolResult(said, details=details)

    async def _reflect(self, arguments: Mapping[str, Any]) -> ToolResult:
        from hindsight_core.recall.reflect import reflect

        query = _text(arguments, "query")
        if not query:
            raise BadArgument("`query` is needed: the question to answer.")
        runtime = self._runtime
        answer = await reflect(runtime.bank, runtime.stages, query, sanitiser=runtime.sanitiser)
        details = {"outcome": answer.outcome, "facts": list(answer.fact_ids)}
        return ToolResult(answer.text, is_error=answer.outcome == "failed", details=details)

    async def _forget(self, arguments: Mapping[str, Any]) -> ToolResult:
        fact_id, reason = _text(arguments, "id"), _text(arguments, "reason")
        if not fact_id or not reason:
            raise BadArgument("`id` and `reason` are needed; hindsight_recall shows ids.")
        if self._runtime.read_only:
            return _failed("bank.read_only is set: nothing is written.")
        own = self._own_id(fact_id)
        try:
            fact = await self._runtime.bank.set_state(
                own, "invalidated", reason=self._runtime.sanitiser.text(reason)
            )
        except (BankError, ProviderError, StorageError) as error:
            return _failed(f"Not retired: {error}")
        return ToolResult(
            f"retired: {fact.text} (restore with `hindsight-mem facts restore {fact_id}`)",
            details={"outcome": "retired", "facts": [f"{self._runtime.bank_id}:{own}"]},
        )

    def _own_id(self, fact_id: str) -> str:
        return fact_id.removeprefix(f"{self._runtime.bank_id}:")


def _failed(text: str) -> ToolResult:
    return ToolResult(text, is_error=True, details={"outcome": "failed"})


def _text(arguments: Mapping[str, Any], name: str) -> str | None:
    value = arguments.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise BadArgument(f"`{name}` must be a string.")
    return value.strip() or None


def _moment(arguments: Mapping[str, Any], name: str) -> datetime | None:
    value = _text(arguments, name)
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise BadArgument(f"`{name}` must be an ISO date, such as 2026-03-01.") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
