"""How many queries a turn may send: a ceiling in code, never told to the model (pi/R-06)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hindsight_core.config.settings import Settings
    from hindsight_core.turns import Turn

CEILINGS = {"light": 2, "normal": 3, "thorough": 5}


def query_cap(effort: str, *, max_queries: int) -> int:
    """Queries of an ordinary turn: 2, 3 or 5 by effort, at most ``max_queries``, at least 1."""
    return max(1, min(CEILINGS.get(effort, CEILINGS["normal"]), max_queries))


def deep_cap(deep_queries: int, *, max_queries: int) -> int:
    """Queries of a deep pass, at most ``max_queries``, at least 1."""
    return max(1, min(deep_queries, max_queries))


def turn_cap(settings: Settings, turn: Turn | None = None) -> int:
    """The cap of one turn: its own (a deep pass has one), else `query_cap` by effort."""
    if turn is not None and turn.max_queries is not None:
        return max(1, turn.max_queries)
    return query_cap(settings.recall.effort, max_queries=settings.recall.max_queries)
