"""``hindsight_recall`` with all that can be asked for: tag groups, scores, banks (s1/S-TOOL-2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

from hindsight_core.engine.tools.base import TEXT, BadArgument, ToolResult, names, schema, text
from hindsight_core.engine.tools.recall import RecallTool, found, scope_of
from hindsight_core.memory import Scope, TagFilter, TagMatch

MATCHES: tuple[TagMatch, ...] = get_args(TagMatch)
_DEEPEST = 8
_MOST = 50
_NUMBERS = {"type": "object", "additionalProperties": {"type": "number"}}


class FullRecallTool(RecallTool):
    """The same search with more conditions; each bank's own scope stays around them."""

    parameters = schema(
        {
            **RecallTool.parameters["properties"],
            "bank": TEXT,
            "types": {"type": "array", "items": TEXT},
            "minScores": _NUMBERS,
            "tagsMatch": {"type": "string", "enum": list(MATCHES), "default": "any_strict"},
            "tagGroups": {"type": "array", "items": {"type": "object"}},
        }
    )

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Facts best first; from all banks that may be read, or from the one named."""
        if text(arguments, "id"):
            return await super().call(arguments)
        query = text(arguments, "query")
        if not query:
            raise BadArgument("`query` is needed: a few concrete words, or give an `id`.")
        bank = text(arguments, "bank") or self.runtime.bank_id
        hits = await self.runtime.recall.search(
            query,
            bank=bank,
            limit=self.limit(arguments),
            scope=_conditions(arguments, scope_of(arguments)),
            min_scores=_scores(arguments),
        )
        return found(hits)


def _conditions(arguments: Mapping[str, Any], scope: Scope) -> Scope:
    match = text(arguments, "tagsMatch") or "any_strict"
    if match not in MATCHES:
        raise BadArgument(f"`tagsMatch` must be one of {', '.join(MATCHES)}.")
    tags = names(arguments, "tags")
    parts = [TagFilter(tags, match)] if tags else []
    parts += groups(arguments.get("tagGroups") or ())
    kinds = (*scope.kinds, *names(arguments, "types"))
    wanted = TagFilter(all_of=tuple(parts)) if len(parts) > 1 else next(iter(parts), None)
    return replace(scope, tags=wanted, kinds=tuple(dict.fromkeys(kinds)))


def groups(given: object, *, depth: int = 0) -> list[TagFilter]:
    """Tag groups in the server's form: leaves, and ``and``, ``or``, ``not`` (s1/S-TAG-1).

    Raises:
        BadArgument: It is not of that form.
    """
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) > _MOST:
        raise BadArgument("`tagGroups` must be a list of groups.")
    if depth > _DEEPEST:
        raise BadArgument(f"`tagGroups` are nested deeper than {_DEEPEST}.")
    return [_group(item, depth) for item in given]


def _group(item: object, depth: int) -> TagFilter:
    if not isinstance(item, Mapping):
        raise BadArgument(
            'a tag group is {"tags": [...]}, {"and": [...]}, {"or": [...]} or {"not": ...}.'
        )
    if "and" in item:
        return TagFilter(all_of=tuple(groups(item["and"], depth=depth + 1)))
    if "or" in item:
        return TagFilter(any_of=tuple(groups(item["or"], depth=depth + 1)))
    if "not" in item:
        return TagFilter(none_of=tuple(groups([item["not"]], depth=depth + 1)))
    match = item.get("match") or "any_strict"
    if match not in MATCHES:
        raise BadArgument(f"`match` of a tag group must be one of {', '.join(MATCHES)}.")
    return TagFilter(names(item, "tags"), match)


def _scores(arguments: Mapping[str, Any]) -> dict[str, float]:
    given = arguments.get("minScores") or {}
    if not isinstance(given, Mapping) or not all(
        isinstance(value, int | float) and not isinstance(value, bool) for value in given.values()
    ):
        raise BadArgument('`minScores` must be an object of numbers, such as {"semantic": 0.5}.')
    return {str(name): float(value) for name, value in given.items()}
