"""Found facts against the working tree: what no longer fits is marked and comes later."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hindsight_core.worktree.freshness import freshness
from hindsight_core.worktree.names import files_in

if TYPE_CHECKING:
    from hindsight_core.memory import Hit
    from hindsight_core.worktree.tree import Tree

logger = logging.getLogger("hindsight_core.recall")
MISSING = 0.5
CHANGED = 0.85
"""What a hit's score counts when files that it names are gone, or different since."""
LIMIT_S = 0.25
"""A file system that does not answer costs a turn no more than this."""


async def against_tree(
    hits: Sequence[Hit], tree: Tree, *, bank: str | None = None
) -> Sequence[Hit]:
    """Hits with their marks, those with one moved down; the scores stay what the bank said.

    Args:
        hits: What was found.
        tree: The checkout.
        bank: The bank whose facts speak of it; those of others name other files. None for all.
    """
    if not any(_names_files(hit, bank) for hit in hits):
        return hits
    try:
        async with asyncio.timeout(LIMIT_S):
            marked = await asyncio.to_thread(lambda: [_marked(hit, tree, bank) for hit in hits])
    except (TimeoutError, OSError) as error:
        logger.info("facts are not compared with the working tree: %s", error or "no answer")
        return hits
    return moved_down(marked)


def moved_down(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Hits in their order, but each marked one behind the better unmarked ones after it."""
    fresh = [hit for hit in hits if not (hit.missing or hit.changed)]
    if len(fresh) == len(hits):
        return tuple(hits)
    before = 0
    places: dict[int, list[Hit]] = {}
    for hit in hits:
        if not (hit.missing or hit.changed):
            before += 1
            continue
        worth = hit.score * (MISSING if hit.missing else CHANGED)
        after = max((n for n, other in enumerate(fresh, 1) if other.score > worth), default=0)
        places.setdefault(max(before, after), []).append(hit)
    ordered = list(places.get(0, ()))
    for number, hit in enumerate(fresh, 1):
        ordered += [hit, *places.get(number, ())]
    return tuple(ordered)


def _names_files(hit: Hit, bank: str | None) -> bool:
    own = bank is None or hit.bank == bank
    return own and bool(hit.fact.provenance.files or files_in(hit.fact.text))


def _marked(hit: Hit, tree: Tree, bank: str | None) -> Hit:
    if not _names_files(hit, bank):
        return hit
    found = freshness(hit.fact, tree)
    return hit if found.fresh else replace(hit, missing=found.missing, changed=found.changed)
