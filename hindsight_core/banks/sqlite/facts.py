"""Facts of the bank file: insert, read, change, list, delete. Functions of an open connection."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from hindsight_core.banks.sqlite import index
from hindsight_core.banks.sqlite.rows import (
    FACT_COLUMNS,
    content_of,
    fact_from,
    fact_values,
    to_json,
)
from hindsight_core.errors import BankError
from hindsight_core.memory import Fact, FactPage, FactState

_COLUMNS = (
    "id, content, text, kind, category, state, document_id, timestamp, created_at, moment,"
    " tags, metadata, provenance, session_id, superseded_by, reason, pinned"
)
_MARKS = ", ".join(f":{name.strip()}" for name in _COLUMNS.split(","))
_CHANGES = ", ".join(f"{name.strip()} = :{name.strip()}" for name in _COLUMNS.split(","))


@dataclass(frozen=True, slots=True)
class Held:
    """A stored fact with its row number."""

    row: int
    fact: Fact


@dataclass(frozen=True, slots=True)
class Listing:
    """Which page of which facts."""

    state: FactState | None = "valid"
    limit: int = 50
    offset: int = 0
    search: str | None = None
    document_id: str | None = None


def find(connection: sqlite3.Connection, fact_id: str) -> Held | None:
    """A fact by id, in any state."""
    return _one(connection, "id = ?", fact_id)


def find_sentence(connection: sqlite3.Connection, text: str) -> Held | None:
    """A fact that says exactly this, whatever its id; a valid one first."""
    return _one(connection, "content = ? ORDER BY state <> 'valid', row", content_of(text))


def required(connection: sqlite3.Connection, fact_id: str) -> Held:
    """`find`, or a `BankError` that says what to do."""
    held = find(connection, fact_id)
    if held is None:
        raise BankError(
            f"no fact {fact_id} in this bank; `facts list --state all` shows the ids",
            retryable=False,
        )
    return held


def insert(connection: sqlite3.Connection, fact: Fact, *, now: int) -> int:
    """Add a fact with its tags; its row number. The index is the caller's work."""
    values = fact_values(fact, now=now)
    cursor = connection.execute(f"INSERT INTO facts ({_COLUMNS}) VALUES ({_MARKS})", values)
    row = int(cursor.lastrowid or 0)
    _set_tags(connection, row, fact.tags)
    return row


def update(connection: sqlite3.Connection, row: int, fact: Fact, *, now: int) -> None:
    """Overwrite a fact's columns and tags. The index is the caller's work."""
    values = {**fact_values(fact, now=now), "row": row}
    connection.execute(f"UPDATE facts SET {_CHANGES} WHERE row = :row", values)
    connection.execute("DELETE FROM fact_tags WHERE row = ?", (row,))
    _set_tags(connection, row, fact.tags)


def edit(
    connection: sqlite3.Connection, held: Held, *, text: str | None, tags: Sequence[str] | None
) -> Fact:
    """Change text or tags in place."""
    if text is not None:
        if not text.strip():
            raise BankError(
                f"fact {held.fact.id} cannot be made empty; delete or invalidate it",
                retryable=False,
            )
        connection.execute(
            # The words that it was taken from no longer say it.
            "UPDATE facts SET text = ?, content = ?,"
            " provenance = json_remove(provenance, '$.quote') WHERE row = ?",
            (text, content_of(text), held.row),
        )
        index.refresh(connection, (held.row,))
        index.forget_words(connection, (held.fact.text,))
    if tags is not None:
        connection.execute(
            "UPDATE facts SET tags = ? WHERE row = ?", (to_json(list(tags)), held.row)
        )
        connection.execute("DELETE FROM fact_tags WHERE row = ?", (held.row,))
        _set_tags(connection, held.row, tags)
    return required(connection, held.fact.id).fact


def set_state(
    connection: sqlite3.Connection,
    fact_id: str,
    state: FactState,
    *,
    reason: str | None = None,
    superseded_by: str | None = None,
) -> Fact:
    """Retire or restore; a pinned fact is not retired."""
    held = required(connection, fact_id)
    if held.fact.pinned and state in ("superseded", "invalidated"):
        raise BankError(
            f"fact {fact_id} is pinned and stays valid; unpin it first", retryable=False
        )
    connection.execute(
        "UPDATE facts SET state = ?, reason = ?, superseded_by = ? WHERE row = ?",
        (
            state,
            None if state == "valid" else reason,
            superseded_by if state == "superseded" else None,
            held.row,
        ),
    )
    index.refresh(connection, (held.row, *index.touching(connection, held.row)))
    return required(connection, fact_id).fact


def pin(connection: sqlite3.Connection, fact_id: str, *, pinned: bool) -> Fact:
    """Set or clear the pin."""
    held = required(connection, fact_id)
    connection.execute("UPDATE facts SET pinned = ? WHERE row = ?", (int(pinned), held.row))
    return required(connection, fact_id).fact


def delete(connection: sqlite3.Connection, rows: Iterable[int]) -> None:
    """Delete facts, their index entries and the traces in their neighbours' entries."""
    gone = sorted(set(rows))
    beside = {n for row in gone for n in index.touching(connection, row)} - set(gone)
    texts = [_text(connection, row) for row in gone]
    for row in gone:
        connection.execute("DELETE FROM words WHERE rowid = ?", (row,))
        connection.execute("DELETE FROM facts WHERE row = ?", (row,))
    index.refresh(connection, beside)
    index.forget_words(connection, texts)


def listing(connection: sqlite3.Connection, wanted: Listing) -> FactPage:
    """Facts newest first; a search is for a part of the text, in any case of letters."""
    where, values = _conditions(wanted)
    rows = connection.execute(
        f"SELECT {FACT_COLUMNS} FROM facts WHERE {where}"
        " ORDER BY moment DESC, row DESC LIMIT ? OFFSET ?",
        (*values, max(0, wanted.limit), max(0, wanted.offset)),
    ).fetchall()
    if wanted.search or wanted.document_id:
        total = connection.execute(f"SELECT count(*) FROM facts WHERE {where}", values)
    elif wanted.state:
        total = connection.execute("SELECT total(n) FROM counts WHERE what = ?", values)
    else:
        total = connection.execute("SELECT total(n) FROM counts WHERE what <> 'documents'")
    return FactPage(facts=tuple(fact_from(r) for r in rows), total=int(total.fetchone()[0]))


def _conditions(wanted: Listing) -> tuple[str, tuple[Any, ...]]:
    parts: list[str] = []
    values: list[Any] = []
    if wanted.state is not None:
        parts.append("state = ?")
        values.append(wanted.state)
    if wanted.search:
        plain = wanted.search.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        parts.append("text LIKE ? ESCAPE '\\'")
        values.append(f"%{plain}%")
    if wanted.document_id:
        parts.append("row IN (SELECT row FROM members WHERE document_id = ?)")
        values.append(wanted.document_id)
    return " AND ".join(parts) or "1", tuple(values)


def _one(connection: sqlite3.Connection, where: str, value: str) -> Held | None:
    found = connection.execute(
        f"SELECT {FACT_COLUMNS}, row FROM facts WHERE {where} LIMIT 1", (value,)
    ).fetchone()
    return None if found is None else Held(row=found[-1], fact=fact_from(found))


def _text(connection: sqlite3.Connection, row: int) -> str:
    found = connection.execute("SELECT text FROM facts WHERE row = ?", (row,)).fetchone()
    return str(found[0]) if found else ""


def _set_tags(connection: sqlite3.Connection, row: int, tags: Iterable[str]) -> None:
    connection.executemany(
        "INSERT OR IGNORE INTO fact_tags (row, tag) VALUES (?, ?)", ((row, tag) for tag in tags)
    )
