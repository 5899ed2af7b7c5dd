"""A search's scope as a Qdrant filter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hindsight_core.banks.vector.bodies import micros
from hindsight_core.memory import Scope, TagFilter

Filter = dict[str, Any]
EVERYTHING: Filter = {"must": []}


def equal(key: str, value: str | int) -> Filter:
    """The payload's field is this, or holds it."""
    return {"key": key, "match": {"value": value}}


def scope_conditions(scope: Scope) -> list[Filter]:
    """Conditions that must all hold."""
    found: list[Filter] = []
    if scope.kinds:
        found.append({"key": "kind", "match": {"any": list(scope.kinds)}})
    if scope.tags is not None:
        found.append(tag_filter(scope.tags))
    limits = {"gte": scope.since, "lt": scope.until}
    span = {name: micros(when) for name, when in limits.items() if when is not None}
    if span:
        found.append({"key": "moment", "range": span})
    if scope.file:
        # Servers differ in whether this means a part of the text or all of its words; what they
        # let through is looked at again (`mentions`).
        found.append({"key": "mentions", "match": {"text": scope.file.lower()}})
    if scope.document_id:
        found.append(equal("document", scope.document_id))
    if scope.session_id:
        found.append(equal("session", scope.session_id))
    return found


def mentions(scope: Scope, payload: Mapping[str, Any]) -> bool:
    """Whether a found fact really mentions the scope's file."""
    return not scope.file or scope.file.lower() in payload.get("mentions", "")


def tag_filter(wanted: TagFilter) -> Filter:
    """A tag condition with the Hindsight server's meaning (s1/S-TAG-1)."""
    if wanted.all_of:
        return {"must": [tag_filter(member) for member in wanted.all_of]}
    if wanted.any_of:
        return {"should": [tag_filter(member) for member in wanted.any_of]}
    if wanted.none_of:
        return {"must_not": [tag_filter(member) for member in wanted.none_of]}
    return _leaf(wanted)


def _leaf(wanted: TagFilter) -> Filter:
    tags = list(dict.fromkeys(wanted.tags))
    every = [equal("tags", tag) for tag in tags]
    if wanted.match == "exact":
        return {"must": [*every, equal("tag_count", len(tags))]}
    if not tags:
        return EVERYTHING
    if wanted.match in ("any", "any_strict"):
        found: Filter = {"key": "tags", "match": {"any": tags}}
    else:
        found = {"must": every}
    return found if wanted.match.endswith("strict") else {"should": [found, equal("tag_count", 0)]}
