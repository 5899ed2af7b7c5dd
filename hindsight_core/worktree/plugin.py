"""The working tree as hook implementations, registered like those of any plugin."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from hindsight_core.hookspecs import hookimpl
from hindsight_core.worktree.freshness import stamped
from hindsight_core.worktree.ranking import against_tree

if TYPE_CHECKING:
    from hindsight_core.memory import Document, Hit, Query
    from hindsight_core.services import Clock
    from hindsight_core.turns import Turn
    from hindsight_core.worktree.tree import Tree

logger = logging.getLogger("hindsight_core.memorize")
RECENT = timedelta(hours=1)
"""What was said longer ago was said on a commit that nobody knows."""


class TreeMarks:
    """Marks found facts whose files are gone or different.

    Args:
        tree: The session's checkout.
        bank: The project's bank; facts of others name other files.
    """

    def __init__(self, tree: Tree, *, bank: str) -> None:
        self._tree = tree
        self._bank = bank

    @hookimpl(trylast=True)
    async def hindsight_filter_hits(
        self, turn: Turn, query: Query, hits: Sequence[Hit]
    ) -> Sequence[Hit]:
        """After everybody else has chosen."""
        return await against_tree(hits, self._tree, bank=self._bank)


class TreeStamps:
    """Notes with each new fact where it was said: branch, commit, the files that it names.

    Args:
        tree: The session's checkout.
        clock: Aware UTC now.
    """

    def __init__(self, tree: Tree, clock: Clock) -> None:
        self._tree = tree
        self._clock = clock

    @hookimpl(trylast=True)
    async def hindsight_before_store(self, document: Document) -> Document:
        """Only of what is said now: an old session knew another commit."""
        said, facts = document.timestamp, document.facts
        if not facts or (said is not None and self._clock() - said > RECENT):
            return document
        try:
            fresh = await asyncio.to_thread(lambda: tuple(stamped(f, self._tree) for f in facts))
        except OSError as error:
            logger.info("no commit is noted: %s", error)
            return document
        return replace(document, facts=fresh)
