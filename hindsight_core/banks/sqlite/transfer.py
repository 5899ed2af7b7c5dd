"""Bulk import and export of facts, exact in every state."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from hindsight_core.banks.sqlite import documents, facts, index
from hindsight_core.banks.sqlite.rows import FACT_COLUMNS, content_of, fact_from, from_micros
from hindsight_core.memory import Fact

BATCH = 2000


def batches(found: Iterable[Fact]) -> Iterator[list[Fact]]:
    """Facts in portions of one transaction each."""
    source = iter(found)
    while part := list(islice(source, BATCH)):
        yield part


def load(connection: sqlite3.Connection, batch: Sequence[Fact], *, now: int) -> int:
    """Upsert one batch by id; how many facts were new or changed."""
    known = _known(connection, [fact.id for fact in batch])
    new_rows: list[int] = []
    changed_rows: list[int] = []
    positions: dict[str, int] = {}
    for fact in {fact.id: fact for fact in batch}.values():
        held = known.get(fact.id)
        stored = held.fact.created_at if held else from_micros(now)
        whole = replace(fact, created_at=fact.created_at or stored)
        if held is None:
            row = facts.insert(connection, whole, now=now)
            new_rows.append(row)
        elif held.fact == whole:
            continue
        else:
            row = held.row
            facts.update(connection, row, whole, now=now)
            changed_rows.append(row)
        if held is None or held.fact.document_id != whole.document_id:
            _join(connection, whole, row, positions, now=now)
    _allow(connection, batch)
    index.refresh_bulk(connection, new_rows)
    index.refresh(connection, changed_rows)
    return len(new_rows) + len(changed_rows)


def page(connection: sqlite3.Connection, after: int, limit: int) -> list[tuple[int, Fact]]:
    """Facts stored after a row number, in order of storage, with their row numbers."""
    rows = connection.execute(
        f"SELECT {FACT_COLUMNS}, row FROM facts WHERE row > ? ORDER BY row LIMIT ?", (after, limit)
    )
    return [(row[-1], fact_from(row)) for row in rows]


def _known(connection: sqlite3.Connection, ids: Sequence[str]) -> dict[str, facts.Held]:
    found: dict[str, facts.Held] = {}
    for start in range(0, len(ids), 500):
        part = ids[start : start + 500]
        marks = ",".join("?" * len(part))
        for row in connection.execute(
            f"SELECT {FACT_COLUMNS}, row FROM facts WHERE id IN ({marks})", list(part)
        ):
            fact = fact_from(row)
            found[fact.id] = facts.Held(row[-1], fact)
    return found


def _join(
    connection: sqlite3.Connection, fact: Fact, row: int, positions: dict[str, int], *, now: int
) -> None:
    if fact.document_id is None:
        return
    if fact.document_id not in positions:
        documents.ensure(connection, fact.document_id, now=now)
        last = connection.execute(
            "SELECT max(position) FROM members WHERE document_id = ?", (fact.document_id,)
        ).fetchone()[0]
        positions[fact.document_id] = 0 if last is None else last + 1
    documents.join(connection, fact.document_id, row, position=positions[fact.document_id])
    positions[fact.document_id] += 1


def _allow(connection: sqlite3.Connection, batch: Sequence[Fact]) -> None:
    """What a person imports is no longer forgotten."""
    if connection.execute("SELECT 1 FROM forgotten LIMIT 1").fetchone():
        connection.executemany(
            "DELETE FROM forgotten WHERE content = ?", ((content_of(f.text),) for f in batch)
        )
