"""Search: candidates from the full-text index, ranked."""

from __future__ import annotations

import sqlite3

from hindsight_core.banks.sqlite.rows import FACT_COLUMNS, fact_from
from hindsight_core.banks.sqlite.scope import scope_condition
from hindsight_core.banks.sqlite.words import split
from hindsight_core.memory import Hit, Query


def search(connection: sqlite3.Connection, query: Query, *, bank: str) -> list[Hit]:
    terms = list(dict.fromkeys(split(query.text).body))
    if not terms or query.limit <= 0:
        return []
    condition, values = scope_condition(query.scope)
    columns = ", ".join(f"f.{name.strip()}" for name in FACT_COLUMNS.split(","))
    match = " OR ".join(f'"{term}"' for term in terms[:12])
    rows = connection.execute(
        f"SELECT {columns}, -bm25(words, 1.0, 1.0, 0.3) FROM words JOIN facts f ON"
        f" f.row = words.rowid WHERE words MATCH ? AND {condition} ORDER BY bm25(words, 1.0, 1.0,"
        " 0.3), f.row LIMIT ?",
        (match, *values, query.limit),
    ).fetchall()
    best = max((row[-1] for row in rows), default=1.0) or 1.0
    return [
        Hit(fact=fact_from(row), bank=bank, score=row[-1] / best, parts={"words": row[-1]})
        for row in rows
    ]
