"""Tag conditions: as the server takes them, and checked again on what it returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hindsight_core.memory import TagFilter

Group = dict[str, Any] | bool


def tag_fields(wanted: TagFilter | None) -> dict[str, Any] | None:
    """Fields of a recall request; {} for no condition, None when nothing can match.

    ``tags`` and ``tag_groups`` exclude each other. A leaf without tags means another thing inside
    of a group than outside, so it is decided here.
    """
    if wanted is None:
        return {}
    group = _group(wanted)
    if isinstance(group, bool):
        return {} if group else None
    if "tags" in group:
        return {"tags": group["tags"], "tags_match": group["match"]}
    return {"tag_groups": [group]}


def allows(wanted: TagFilter | None, tags: Sequence[str]) -> bool:
    """Whether a fact with these tags may be seen.

    Older servers take conditions that they do not know without a word and return everything.
    """
    if wanted is None:
        return True
    if wanted.all_of:
        return all(allows(part, tags) for part in wanted.all_of)
    if wanted.any_of:
        return any(allows(part, tags) for part in wanted.any_of)
    if wanted.none_of:
        return not any(allows(part, tags) for part in wanted.none_of)
    asked, held = set(wanted.tags), set(tags)
    if wanted.match == "exact":
        return asked == held
    strict = wanted.match.endswith("_strict")
    if not asked or (not held and not strict):
        return True
    return asked <= held if wanted.match.startswith("all") else bool(asked & held)


def _group(wanted: TagFilter) -> Group:
    if wanted.all_of:
        return _joined("and", [_group(part) for part in wanted.all_of], neutral=True)
    if wanted.any_of:
        return _joined("or", [_group(part) for part in wanted.any_of], neutral=False)
    if wanted.none_of:
        return _joined("and", [_not(_group(part)) for part in wanted.none_of], neutral=True)
    if not wanted.tags and wanted.match != "exact":
        return True
    return {"tags": list(wanted.tags), "match": wanted.match}


def _joined(name: str, parts: list[Group], *, neutral: bool) -> Group:
    if any(part is (not neutral) for part in parts):
        return not neutral
    left = [part for part in parts if not isinstance(part, bool)]
    if not left:
        return neutral
    return left[0] if len(left) == 1 else {name: left}


def _not(group: Group) -> Group:
    return (not group) if isinstance(group, bool) else {"not": group}
