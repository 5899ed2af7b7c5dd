"""Which facts are looked at closely: those with the query's words, and the nearest by vector."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from heapq import nlargest

from hindsight_core.banks.sqlite.ranking import Candidate
from hindsight_core.banks.sqlite.scope import scope_condition
from hindsight_core.memory import Scope

_COLUMN_WEIGHTS = "1.0, 1.0, 0.3"
_NEAREST = 40


def candidates(
    connection: sqlite3.Connection, words: Sequence[str], scope: Scope, *, limit: int
) -> list[Candidate]:
    """The index entries that hold any of these words, the best by bm25."""
    if not words:
        return []
    condition, values = scope_condition(scope)
    seen = "" if condition == "1" else "JOIN facts f ON f.row = words.rowid "
    match = " OR ".join(f'"{word}"' for word in words)
    # Texts are read for the best alone: sorting first, on numbers, is several times faster.
    rows = connection.execute(
        "SELECT best.row, best.bm25, w.body, w.names, w.near, f.moment, f.document_id IS NOT NULL"
        f" FROM (SELECT words.rowid AS row, -bm25(words, {_COLUMN_WEIGHTS}) AS bm25 FROM words"
        f" {seen}WHERE words MATCH ? AND {condition} ORDER BY bm25 DESC, words.rowid LIMIT ?)"
        " AS best CROSS JOIN words w ON w.rowid = best.row JOIN facts f ON f.row = best.row",
        (match, *values, limit),
    )
    return [Candidate(*row) for row in rows]


def nearest(
    connection: sqlite3.Connection,
    nearness: Mapping[int, float],
    found: Iterable[Candidate],
    scope: Scope,
    *,
    limit: int,
) -> list[Candidate]:
    """The nearest facts by vector that are not found already and that the scope allows."""
    held = {candidate.row for candidate in found}
    condition, values = scope_condition(scope)
    allowed: Iterable[int] = nearness
    if condition != "1":
        allowed = [
            row[0]
            for row in connection.execute(
                f"SELECT row FROM facts f WHERE state = 'valid' AND {condition}", values
            )
            if row[0] in nearness
        ]
    best = nlargest(min(limit, _NEAREST), allowed, key=nearness.__getitem__)
    rows = [row for row in best if row not in held]
    marks = ",".join("?" * len(rows))
    entries = connection.execute(
        "SELECT w.rowid, 0.0, w.body, w.names, w.near, f.moment, f.document_id IS NOT NULL"
        f" FROM words w JOIN facts f ON f.row = w.rowid WHERE w.rowid IN ({marks})",
        rows,
    )
    return [Candidate(*entry) for entry in entries]
