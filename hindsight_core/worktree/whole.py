"""A checkout looked at as a whole: every file is known, so that what is not there is missing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hindsight_core.memory import Fact
from hindsight_core.worktree.freshness import FRESH, Freshness, freshness
from hindsight_core.worktree.history import committed_at
from hindsight_core.worktree.names import files_in
from hindsight_core.worktree.tree import LEFT_OUT, Place, Tree

MAX_FILES = 300_000


@dataclass
class WholeTree(Tree):
    """A `Tree` that has been walked once. It takes a while in a large checkout."""

    _names: Mapping[str, tuple[str, ...]] | None = None
    _complete: bool = field(default=True)

    def find(self, path: str) -> tuple[Place, str | None]:
        """Where a path is; also a bare name is looked for in every folder."""
        relative = self.relative(path)
        if relative is None:
            return "unknown", None
        if os.path.exists(found := f"{self.base}/{relative}"):
            return "here", found
        for place in self._walked().get(relative.rpartition("/")[2], ()):
            if place.endswith(f"/{relative}"):
                return "here", f"{self.base}/{place}"
        return ("missing" if self._complete else "unknown"), None

    def _walked(self) -> Mapping[str, tuple[str, ...]]:
        if self._names is None:
            found: dict[str, list[str]] = {}
            count = 0
            for folder, inner, files in os.walk(self.root):
                inner[:] = [name for name in inner if name != ".git" and name not in LEFT_OUT]
                relative = Path(folder).relative_to(self.root).as_posix()
                for name in files:
                    found.setdefault(name, []).append(f"{relative}/{name}".removeprefix("./"))
                count += len(files)
                if count > MAX_FILES:
                    self._complete = False
                    break
            self._names = {name: tuple(places) for name, places in found.items()}
        return self._names


def verify(facts: Iterable[Fact], root: Path) -> dict[str, Freshness]:
    """Id to what has become of its files, for facts that no longer fit.

    Files whose content was not noted with the fact have changed since when they were committed
    after it.
    """
    tree = WholeTree(root)
    found: dict[str, Freshness] = {}
    unsure: dict[str, tuple[Fact, dict[str, str]]] = {}
    for fact in facts:
        seen = freshness(fact, tree)
        if not seen.fresh:
            found[fact.id] = seen
        if fact.provenance.files or not (named := files_in(fact.text)):
            continue
        places = {path: _place(tree, path) for path in named if path not in seen.changed}
        unsure[fact.id] = fact, {path: place for path, place in places.items() if place}
    times = committed_at(
        root, {place for _, places in unsure.values() for place in places.values()}
    )
    for key, (fact, places) in unsure.items():
        said = fact.timestamp or fact.created_at
        if said is None:
            continue
        later = tuple(p for p, place in places.items() if times.get(place, 0) > said.timestamp())
        if later:
            seen = found.get(key, FRESH)
            found[key] = Freshness(seen.missing, (*seen.changed, *later))
    return found


def _place(tree: Tree, path: str) -> str:
    _, found = tree.find(path)
    return "" if found is None else found.removeprefix(f"{tree.base}/")
