"""Documents and deleted sentences of the bank file, out and in. Functions of an open connection."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import replace

from hindsight_core.banks.sqlite import documents, index
from hindsight_core.banks.sqlite.rows import (
    DOCUMENT_COLUMNS,
    document_from,
    from_micros,
    to_micros,
)
from hindsight_core.memory import DocumentCopy

BATCH = 500


def page(
    connection: sqlite3.Connection, after: int, limit: int = BATCH
) -> list[tuple[int, DocumentCopy]]:
    """Documents stored after a row number, oldest first, with their row numbers."""
    rows = connection.execute(
        f"SELECT {DOCUMENT_COLUMNS}, created_at, rowid FROM documents WHERE rowid > ?"
        " ORDER BY rowid LIMIT ?",
        (after, limit),
    ).fetchall()
    return [(row[-1], _copy(connection, row)) for row in rows]


def load(connection: sqlite3.Connection, copies: Sequence[DocumentCopy], *, now: int) -> int:
    """Upsert documents by id; how many were new or changed."""
    changed = 0
    touched: set[int] = set()
    for copy in copies:
        held = _held(connection, copy.document.id)
        rows = _rows(connection, copy.fact_ids)
        before = documents.member_rows(connection, copy.document.id)
        members = list(dict.fromkeys((*rows, *before)))
        created = to_micros(copy.created_at) or (to_micros(held.created_at) if held else now)
        same = held is not None and (held.document, to_micros(held.created_at)) == (
            copy.document,
            created,
        )
        if same and members == before:
            continue
        changed += 1
        documents.put(connection, copy.document, now=now)
        connection.execute(
            "UPDATE documents SET created_at = ? WHERE id = ?", (created, copy.document.id)
        )
        if members != before:
            for position, row in enumerate(members):
                documents.join(connection, copy.document.id, row, position=position)
            touched.update(members)
    index.refresh(connection, touched)
    return changed


def forgotten(connection: sqlite3.Connection) -> frozenset[str]:
    """Identities of the sentences that were deleted for good."""
    return frozenset(row[0] for row in connection.execute("SELECT content FROM forgotten"))


def forget(connection: sqlite3.Connection, contents: Iterable[str], *, now: int) -> int:
    """Add to them; how many were new."""
    before = connection.total_changes
    connection.executemany(
        "INSERT OR IGNORE INTO forgotten VALUES (?, ?)", [(content, now) for content in contents]
    )
    return connection.total_changes - before


def _held(connection: sqlite3.Connection, document_id: str) -> DocumentCopy | None:
    row = connection.execute(
        f"SELECT {DOCUMENT_COLUMNS}, created_at, rowid FROM documents WHERE id = ?", (document_id,)
    ).fetchone()
    return None if row is None else _copy(connection, row)


def _copy(connection: sqlite3.Connection, row: sqlite3.Row | tuple[object, ...]) -> DocumentCopy:
    bare = replace(document_from(tuple(row), ()), facts=None)
    members = connection.execute(
        "SELECT f.id FROM members m JOIN facts f ON f.row = m.row"
        " WHERE m.document_id = ? ORDER BY m.position",
        (bare.id,),
    )
    created = from_micros(row[7])  # type: ignore[arg-type]
    return DocumentCopy(bare, tuple(member[0] for member in members), created)


def _rows(connection: sqlite3.Connection, fact_ids: Sequence[str]) -> list[int]:
    found: list[int] = []
    for fact_id in fact_ids:
        row = connection.execute("SELECT row FROM facts WHERE id = ?", (fact_id,)).fetchone()
        found += [row[0]] if row else []
    return found
