"""Whether the files that a fact names are as they were when it was said."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hindsight_core.worktree.names import files_in

if TYPE_CHECKING:
    from hindsight_core.memory import Fact
    from hindsight_core.worktree.tree import Tree

_APART_S = 2.0


@dataclass(frozen=True, slots=True)
class Freshness:
    """What has become of the files that a fact names.

    Attributes:
        missing: Those that are gone, as the fact writes them.
        changed: Those that are different since.
    """

    missing: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    @property
    def fresh(self) -> bool:
        """Nothing speaks against the fact."""
        return not (self.missing or self.changed)


FRESH = Freshness()


def freshness(fact: Fact, tree: Tree) -> Freshness:
    """Compare a fact with the working tree.

    Files whose content was noted with the fact are compared by it. Of others it is known only
    whether they are there, and whether they were written after the fact, and after the checkout
    was made.
    """
    noted = dict(fact.provenance.files)
    named = files_in(fact.text)
    if not named and not noted:
        return FRESH
    missing: list[str] = []
    changed: list[str] = []
    seen: set[str] = set()
    for path in (*named, *noted):
        relative = tree.relative(path)
        if relative is None or relative in seen:
            continue
        seen.add(relative)
        place, found = tree.find(relative)
        digest = noted.get(relative)
        if found is None:
            # What was there when the fact was said, and is not now, is gone for certain.
            if place == "missing" or digest is not None:
                missing.append(path)
        elif digest is not None:
            now = tree.digest(found)
            if now is not None and now != digest:
                changed.append(path)
        elif _written_since(fact, tree.written_at(found), tree):
            changed.append(path)
    return Freshness(tuple(missing), tuple(changed)) if missing or changed else FRESH


def stamped(fact: Fact, tree: Tree) -> Fact:
    """The fact with where it was said: branch, commit, and what was in the files that it names."""
    head, noted = tree.head, {}
    for path in files_in(fact.text):
        place, found = tree.find(path)
        relative = tree.relative(path)
        digest = tree.digest(found) if found is not None and place == "here" else None
        if digest is not None and relative is not None:
            noted[relative] = digest
    told = fact.provenance
    return replace(
        fact,
        provenance=replace(
            told,
            branch=told.branch or head.branch,
            commit=told.commit or head.commit,
            files=told.files or tuple(noted.items()),
        ),
    )


def _written_since(fact: Fact, written: float, tree: Tree) -> bool:
    said = fact.timestamp or fact.created_at
    if said is None:
        return False
    return written > max(said.timestamp(), tree.made_at) + _APART_S
