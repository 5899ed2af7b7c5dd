"""Documents of the bank file. Functions of an open connection."""

from __future__ import annotations

import sqlite3

from hindsight_core.banks.sqlite import facts, index
from hindsight_core.banks.sqlite.rows import (
    DOCUMENT_COLUMNS,
    FACT_COLUMNS,
    document_from,
    fact_from,
    to_json,
    to_micros,
)
from hindsight_core.identity import normalise
from hindsight_core.memory import Document, DocumentPage, Fact


def put(connection: sqlite3.Connection, document: Document, *, now: int) -> None:
    """Write the document's own row; its facts are the caller's work."""
    connection.execute(
        f"INSERT INTO documents ({DOCUMENT_COLUMNS}, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (id) DO UPDATE SET text = excluded.text, context = excluded.context,"
        " tags = excluded.tags, metadata = excluded.metadata, timestamp = excluded.timestamp,"
        " explicit = excluded.explicit",
        (
            document.id,
            document.text,
            document.context,
            to_json(list(document.tags)),
            to_json(dict(document.metadata)),
            to_micros(document.timestamp),
            int(document.explicit),
            now,
        ),
    )


def ensure(connection: sqlite3.Connection, document_id: str, *, now: int) -> None:
    """An empty document row for facts that came without their document."""
    connection.execute(
        f"INSERT OR IGNORE INTO documents ({DOCUMENT_COLUMNS}, created_at)"
        " VALUES (?, '', NULL, '[]', '{}', NULL, 0, ?)",
        (document_id, now),
    )


def find(connection: sqlite3.Connection, document_id: str) -> Document | None:
    """One document with its facts in order."""
    row = connection.execute(
        f"SELECT {DOCUMENT_COLUMNS} FROM documents WHERE id = ?", (document_id,)
    ).fetchone()
    return None if row is None else document_from(row, _facts(connection, document_id))


def listing(connection: sqlite3.Connection, *, limit: int, offset: int) -> DocumentPage:
    """Documents with their facts, newest first."""
    rows = connection.execute(
        f"SELECT {DOCUMENT_COLUMNS} FROM documents"
        " ORDER BY coalesce(timestamp, created_at) DESC, rowid DESC LIMIT ? OFFSET ?",
        (max(0, limit), max(0, offset)),
    ).fetchall()
    total = connection.execute("SELECT total(n) FROM counts WHERE what = 'documents'").fetchone()
    found = tuple(document_from(row, _facts(connection, row[0])) for row in rows)
    return DocumentPage(documents=found, total=int(total[0]))


def member_rows(connection: sqlite3.Connection, document_id: str) -> list[int]:
    """Rows of a document's facts in order."""
    found = connection.execute(
        "SELECT row FROM members WHERE document_id = ? ORDER BY position", (document_id,)
    )
    return [row[0] for row in found]


def join(connection: sqlite3.Connection, document_id: str, row: int, *, position: int) -> None:
    """Make a fact a member of a document."""
    connection.execute(
        "INSERT INTO members (document_id, position, row) VALUES (?, ?, ?)"
        " ON CONFLICT (document_id, row) DO UPDATE SET position = excluded.position",
        (document_id, position, row),
    )


def leave(connection: sqlite3.Connection, document_id: str, row: int) -> bool:
    """End a membership; True when no other document holds the fact."""
    connection.execute("DELETE FROM members WHERE document_id = ? AND row = ?", (document_id, row))
    other = connection.execute(
        "SELECT document_id FROM members WHERE row = ? ORDER BY document_id LIMIT 1", (row,)
    ).fetchone()
    if other is None:
        return True
    connection.execute(
        "UPDATE facts SET document_id = ? WHERE row = ? AND document_id = ?",
        (other[0], row, document_id),
    )
    return False


def reword(connection: sqlite3.Connection, row: int, text: str, by: str | None) -> None:
    """Let the documents of a fact say it anew, or, with ``by`` None, no more."""
    homes = connection.execute(
        "SELECT d.id, d.text FROM documents d JOIN members m ON m.document_id = d.id"
        " WHERE m.row = ?",
        (row,),
    ).fetchall()
    for document_id, whole in homes:
        set_text(connection, document_id, reworded(whole, text, by))


def set_text(connection: sqlite3.Connection, document_id: str, text: str) -> None:
    """Change a document's own text alone."""
    connection.execute("UPDATE documents SET text = ? WHERE id = ?", (text, document_id))


def reworded(whole: str, text: str, by: str | None) -> str:
    """A document's text with one sentence said anew, or left out."""
    lines = (_line(line, text, by) for line in whole.split("\n"))
    return "\n".join(line for line in lines if line is not None)


def _line(line: str, text: str, by: str | None) -> str | None:
    if normalise(line) == normalise(text):
        mark = line[: len(line) - len(line.lstrip(" -*\u2022\t"))]
        return None if by is None else f"{mark}{by}"
    return line.replace(text, by or "")


def delete(connection: sqlite3.Connection, document_id: str) -> bool:
    """Delete a document and the facts that no other document holds."""
    if not connection.execute("SELECT 1 FROM documents WHERE id = ?", (document_id,)).fetchone():
        return False
    rows = member_rows(connection, document_id)
    alone = [row for row in rows if leave(connection, document_id, row)]
    facts.delete(connection, alone)
    index.refresh(connection, set(rows) - set(alone))
    connection.execute("DELETE FROM documents WHERE id = ?", (document_id,))
    return True


def _facts(connection: sqlite3.Connection, document_id: str) -> tuple[Fact, ...]:
    columns = ", ".join(f"f.{name.strip()}" for name in FACT_COLUMNS.split(","))
    rows = connection.execute(
        f"SELECT {columns} FROM members m JOIN facts f ON f.row = m.row"
        " WHERE m.document_id = ? ORDER BY m.position",
        (document_id,),
    )
    return tuple(fact_from(row) for row in rows)
