"""The active path of a session's tree: what the person really said and kept (pi/D-25)."""

from __future__ import annotations

from collections.abc import Sequence

from hindsight_core.transcript.entry import Entry


def active_path(entries: Sequence[Entry], leaf: str | None = None) -> tuple[Entry, ...]:
    """The leaf and its ancestors, oldest first; abandoned branches are not in it.

    Args:
        entries: As recorded, oldest first. Where no entry names a parent, all of them in order.
        leaf: Id of the leaf; the last entry by default, or when it is unknown.

    An entry whose parent is not among `entries` (a lost line, a shortened file) follows the
    entry recorded before it: a fault in one record must not cost the whole history.
    """
    if not any(entry.parent_id for entry in entries):
        return tuple(entries) if leaf is None else _until(entries, leaf)
    places = {entry.id: number for number, entry in enumerate(entries)}
    at: int | None = places.get(leaf, len(entries) - 1) if leaf else len(entries) - 1
    path: list[Entry] = []
    seen: set[int] = set()
    while at is not None and at not in seen:
        seen.add(at)
        path.append(entries[at])
        at = _parent(entries, places, at)
    return tuple(reversed(path))


def after_last_compaction(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """What stands after the last compaction of a path; all of it without one (pi/X-10)."""
    for number in range(len(entries) - 1, -1, -1):
        if entries[number].compaction:
            return tuple(entries[number + 1 :])
    return tuple(entries)


def _parent(entries: Sequence[Entry], places: dict[str, int], at: int) -> int | None:
    parent = entries[at].parent_id
    if parent is None:
        return None
    found = places.get(parent)
    if found is not None:
        return found
    return at - 1 if at else None


def _until(entries: Sequence[Entry], leaf: str) -> tuple[Entry, ...]:
    for number, entry in enumerate(entries):
        if entry.id == leaf:
            return tuple(entries[: number + 1])
    return tuple(entries)
