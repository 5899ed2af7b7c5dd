"""What a tag filter means, in plain Python: the reference that banks are compared with."""

from __future__ import annotations

from collections.abc import Sequence

from hindsight_core.memory import TagFilter


def tags_match(wanted: TagFilter, tags: Sequence[str]) -> bool:
    """The meaning of a tag filter, in Python (s1/S-TAG-1)."""
    if wanted.all_of:
        return all(tags_match(member, tags) for member in wanted.all_of)
    if wanted.any_of:
        return any(tags_match(member, tags) for member in wanted.any_of)
    if wanted.none_of:
        return not any(tags_match(member, tags) for member in wanted.none_of)
    asked, held = set(wanted.tags), set(tags)
    if wanted.match == "exact":
        return asked == held
    if not asked:
        return True
    found = asked <= held if wanted.match.startswith("all") else bool(asked & held)
    return found or (not held and not wanted.match.endswith("strict"))
