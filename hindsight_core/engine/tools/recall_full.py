"""``hindsight_recall`` with all that can be asked for: tag groups, scores, banks (s1/S-TOOL-2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, get_args

from hindsight_core.engine.tools.base import (
    TEXT,
    BadArgument,
    ToolResult,
    choice,
    moment,
    names,
    schema,
    switch,
    text,
    whole,
)
from hindsight_core.engine.tools.recall import RecallTool, found, scope_of
from hindsight_core.engine.tools.tag_groups import PARAMETERS, wanted
from hindsight_core.memory import Query, Scope

Budget = Literal["low", "mid", "high"]
BUDGETS: tuple[Budget, ...] = get_args(Budget)
MOST_TOKENS = 32_000
_NUMBERS = {"type": "object", "additionalProperties": {"type": "number"}}
_TOKENS = {"type": "integer", "minimum": 1, "maximum": MOST_TOKENS}


class FullRecallTool(RecallTool):
    """The same search with more conditions; the bank's own scope stays around them."""

    parameters = schema(
        {
            **RecallTool.parameters["properties"],
            "bank": TEXT,
            "types": {"type": "array", "items": TEXT},
            "minScores": _NUMBERS,
            "budget": {"type": "string", "enum": list(BUDGETS)},
            "maxTokens": _TOKENS,
            "preferObservations": {"type": "boolean"},
            "queryTimestamp": TEXT,
            "includeSourceFacts": {"type": "boolean"},
            "maxSourceFactsTokens": _TOKENS,
            **PARAMETERS,
        }
    )

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Facts best first, of the project's bank or of the one that is named."""
        if text(arguments, "id"):
            return await super().call(arguments)
        query = text(arguments, "query")
        if not query:
            raise BadArgument("`query` is needed: a few concrete words, or give an `id`.")
        hits = await self.runtime.recall.search(
            query,
            bank=text(arguments, "bank") or self.runtime.bank_id,
            limit=self.limit(arguments),
            scope=_scope(arguments),
            wanted=wanted(arguments),
            asked=_asked(arguments),
        )
        return found(hits)


def _scope(arguments: Mapping[str, Any]) -> Scope:
    """Its tags are a condition of their own, within the bank's scope (s1/S-TAG-4)."""
    scope = scope_of(arguments)
    kinds = (*scope.kinds, *names(arguments, "types"))
    return replace(scope, tags=None, kinds=tuple(dict.fromkeys(kinds)))


def _asked(arguments: Mapping[str, Any]) -> Query:
    """How hard the bank looks, and how much it tells; what is not given is as configured."""
    tokens = None
    if arguments.get("maxTokens") is not None:
        tokens = whole(arguments, "maxTokens", default=1, top=MOST_TOKENS)
    source_facts = switch(arguments, "includeSourceFacts")
    bound = whole(arguments, "maxSourceFactsTokens", default=4096, top=MOST_TOKENS)
    return Query(
        "",
        budget=choice(arguments, "budget", BUDGETS) or "mid",
        max_tokens=tokens,
        prefer_observations=switch(arguments, "preferObservations"),
        min_scores=_scores(arguments),
        at=moment(arguments, "queryTimestamp"),
        source_facts=None if source_facts is None else bound if source_facts else 0,
    )


def _scores(arguments: Mapping[str, Any]) -> dict[str, float]:
    given = arguments.get("minScores") or {}
    if not isinstance(given, Mapping) or not all(
        isinstance(value, int | float) and not isinstance(value, bool) for value in given.values()
    ):
        raise BadArgument('`minScores` must be an object of numbers, such as {"semantic": 0.5}.')
    return {str(name): float(value) for name, value in given.items()}
