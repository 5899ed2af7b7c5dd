"""Keeps the full-text index in step with the facts: valid facts only, with their neighbours."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from hindsight_core.banks.sqlite.words import Words, split

_SPELLED = 4


def refresh(connection: sqlite3.Connection, rows: Iterable[int]) -> None:
    """Write the index entries of these fact rows anew, and those of their neighbours.

    Neighbours are the facts before and after in the same document, or else the facts stored
    just before and after; their words stand in the ``near`` column.
    """
    asked = sorted(set(rows))
    near: dict[int, list[int]] = {row: neighbours(connection, row) for row in asked}
    for row in {n for found in near.values() for n in found} - near.keys():
        near[row] = neighbours(connection, row)
    texts = _valid_texts(connection, near.keys() | {n for f in near.values() for n in f})
    split_texts = {row: split(text) for row, text in texts.items()}
    entries = []
    for row, others in near.items():
        connection.execute("DELETE FROM words WHERE rowid = ?", (row,))
        if row in split_texts:
            around = [w for n in others if n in split_texts for w in split_texts[n].body]
            own = split_texts[row]
            entries.append((row, " ".join(own.body), " ".join(own.names), " ".join(around)))
    connection.executemany(
        "INSERT INTO words (rowid, body, names, near) VALUES (?, ?, ?, ?)", sorted(entries)
    )
    learn_words(connection, split_texts.values())


def refresh_bulk(connection: sqlite3.Connection, rows: Sequence[int]) -> None:
    """`refresh` for new rows in order of storage: neighbours are taken from the batch itself."""
    groups: dict[str | None, list[tuple[int, Words]]] = {}
    for row, document, text in _batch(connection, rows):
        groups.setdefault(document, []).append((row, split(text)))
    entries = []
    for members in groups.values():
        for i, (row, own) in enumerate(members):
            around = [
                w for j in (i - 1, i + 1) if 0 <= j < len(members) for w in members[j][1].body
            ]
            entries.append((row, " ".join(own.body), " ".join(own.names), " ".join(around)))
    connection.executemany("DELETE FROM words WHERE rowid = ?", ((row,) for row in rows))
    connection.executemany(
        "INSERT INTO words (rowid, body, names, near) VALUES (?, ?, ?, ?)", sorted(entries)
    )
    learn_words(connection, (own for members in groups.values() for _, own in members))


def neighbours(connection: sqlite3.Connection, row: int) -> list[int]:
    """Rows of the facts beside a fact: in its first document, else in order of storage."""
    homes = _homes(connection, row)
    return _in_document(connection, *homes[0]) if homes else _in_order(connection, row)


def touching(connection: sqlite3.Connection, row: int) -> set[int]:
    """Rows whose entries may hold this fact's words: beside it in any of its documents."""
    found = set(_in_order(connection, row))
    for home in _homes(connection, row):
        found.update(_in_document(connection, *home))
    return found


def _homes(connection: sqlite3.Connection, row: int) -> list[tuple[str, int]]:
    return connection.execute(
        "SELECT document_id, position FROM members WHERE row = ? ORDER BY document_id", (row,)
    ).fetchall()


def _in_document(connection: sqlite3.Connection, document_id: str, position: int) -> list[int]:
    return [
        found[0]
        for compare, order in (("<", "DESC"), (">", "ASC"))
        for found in connection.execute(
            "SELECT m.row FROM members m JOIN facts f ON f.row = m.row WHERE"
            f" m.document_id = ? AND m.position {compare} ? AND f.state = 'valid'"
            f" ORDER BY m.position {order} LIMIT 1",
            (document_id, position),
        )
    ]


def _in_order(connection: sqlite3.Connection, row: int) -> list[int]:
    return [
        found[0]
        for compare, order in (("<", "DESC"), (">", "ASC"))
        for found in connection.execute(
            f"SELECT row, document_id FROM facts WHERE row {compare} ? AND state = 'valid'"
            f" ORDER BY row {order} LIMIT 1",
            (row,),
        )
        if found[1] is None
    ]


def learn_words(connection: sqlite3.Connection, texts: Iterable[Words]) -> None:
    """Add words to the vocabulary that misspelt queries are compared with."""
    words = {w for t in texts for w in (*t.body, *t.names) if spelled(w)}
    for word in sorted(words):
        added = connection.execute(
            "INSERT OR IGNORE INTO vocabulary (word) VALUES (?) RETURNING id", (word,)
        ).fetchone()
        if added is not None:
            connection.execute(
                "INSERT INTO spellings (rowid, word) VALUES (?, ?)", (added[0], word)
            )


def forget_words(connection: sqlite3.Connection, texts: Iterable[str]) -> None:
    """Drop words of deleted facts that no fact holds any more."""
    words = {w for text in texts for part in (split(text),) for w in (*part.body, *part.names)}
    for word in sorted(w for w in words if spelled(w)):
        if connection.execute(
            "SELECT 1 FROM words WHERE words MATCH ? LIMIT 1", (f'"{word}"',)
        ).fetchone():
            continue
        gone = connection.execute(
            "DELETE FROM vocabulary WHERE word = ? RETURNING id", (word,)
        ).fetchone()
        if gone is not None:
            connection.execute(
                "INSERT INTO spellings (spellings, rowid, word) VALUES ('delete', ?, ?)",
                (gone[0], word),
            )


def spelled(word: str) -> bool:
    """Whether a word is one that people misspell: long enough, and not a number."""
    return len(word) >= _SPELLED and not word.isdigit()


def rebuild(connection: sqlite3.Connection) -> int:
    """Make the whole index from the rows; how many facts it holds."""
    for statement in (
        "DELETE FROM words",
        "DELETE FROM vocabulary",
        "INSERT INTO spellings (spellings) VALUES ('rebuild')",
    ):
        connection.execute(statement)
    rows = [
        r[0] for r in connection.execute("SELECT row FROM facts WHERE state = 'valid' ORDER BY row")
    ]
    refresh_bulk(connection, rows)
    return len(rows)


def _valid_texts(connection: sqlite3.Connection, rows: Iterable[int]) -> dict[int, str]:
    wanted = sorted(rows)
    found: dict[int, str] = {}
    for start in range(0, len(wanted), 500):
        part = wanted[start : start + 500]
        marks = ",".join("?" * len(part))
        found.update(
            connection.execute(
                f"SELECT row, text FROM facts WHERE state = 'valid' AND row IN ({marks})", part
            )
        )
    return found


def _batch(
    connection: sqlite3.Connection, rows: Sequence[int]
) -> list[tuple[int, str | None, str]]:
    found: list[tuple[int, str | None, str]] = []
    for start in range(0, len(rows), 500):
        part = rows[start : start + 500]
        marks = ",".join("?" * len(part))
        found += connection.execute(
            f"SELECT row, document_id, text FROM facts WHERE state = 'valid' AND row IN ({marks})"
            " ORDER BY row",
            part,
        )
    return found
