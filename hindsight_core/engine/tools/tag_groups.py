"""Tags and tag groups among a tool's arguments, in the server's form (s1/S-TAG-1, S-TAG-4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from hindsight_core.engine.tools.base import TEXT, BadArgument, names, text
from hindsight_core.memory import TagFilter, TagMatch
from hindsight_core.recall.scopes import Wanted

MATCHES: tuple[TagMatch, ...] = get_args(TagMatch)
PARAMETERS: Mapping[str, Any] = {
    "tags": {"type": "array", "items": TEXT},
    "tagsMatch": {"type": "string", "enum": list(MATCHES), "default": "any_strict"},
    "tagGroups": {"type": "array", "items": {"type": "object"}},
}
_DEEPEST = 8
_MOST = 50


def wanted(arguments: Mapping[str, Any]) -> Wanted:
    """The caller's conditions; raises `BadArgument`."""
    match = text(arguments, "tagsMatch") or "any_strict"
    if match not in MATCHES:
        raise BadArgument(f"`tagsMatch` must be one of {', '.join(MATCHES)}.")
    return Wanted(
        tags=names(arguments, "tags"),
        match=match,
        groups=tuple(groups(arguments.get("tagGroups") or ())),
    )


def groups(given: object, *, depth: int = 0) -> list[TagFilter]:
    """Leaves, and ``and``, ``or``, ``not`` of them.

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
    for name in ("and", "or"):
        if name in item:
            parts = tuple(groups(item[name], depth=depth + 1))
            if not parts:
                raise BadArgument(f"`{name}` of a tag group needs at least one group.")
            return TagFilter(all_of=parts) if name == "and" else TagFilter(any_of=parts)
    if "not" in item:
        return TagFilter(none_of=tuple(groups([item["not"]], depth=depth + 1)))
    match = item.get("match") or "any_strict"
    if match not in MATCHES:
        raise BadArgument(f"`match` of a tag group must be one of {', '.join(MATCHES)}.")
    return TagFilter(names(item, "tags"), match)
