"""Deleting for good: no trace of the text stays in the file."""

from __future__ import annotations

import sqlite3

from hindsight_core.banks.sqlite import documents, facts
from hindsight_core.banks.sqlite.rows import content_of


def fact(connection: sqlite3.Connection, fact_id: str, *, now: int) -> bool:
    """Delete a fact and remember by its digest alone that it is not wanted."""
    held = facts.find(connection, fact_id)
    if held is None:
        return False
    # The id is the digest of what it said before a person edited it: that is not wanted either.
    connection.executemany(
        "INSERT OR REPLACE INTO forgotten (content, at) VALUES (?, ?)",
        ((content, now) for content in {content_of(held.fact.text), held.fact.id}),
    )
    documents.reword(connection, held.row, held.fact.text, None)
    facts.delete(connection, (held.row,))
    scrub(connection)
    return True


def document(connection: sqlite3.Connection, document_id: str) -> bool:
    """Delete a document with its facts."""
    found = documents.delete(connection, document_id)
    if found:
        scrub(connection)
    return found


def checkpoint(connection: sqlite3.Connection) -> None:
    """Move the log into the file and cut it, so that deleted text is not left in it.

    A busy reader elsewhere delays this to the next checkpoint.
    """
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()


def scrub(connection: sqlite3.Connection) -> None:
    """Merge the index: words of what was replaced stand in its older parts until then."""
    for table in ("words", "spellings"):
        connection.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")
