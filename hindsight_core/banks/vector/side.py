"""The side table of a vector bank: what must be listed, counted and told apart, in one file."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from hindsight_core.banks.vector.bodies import document_body, members_in, micros, moment, stored_in
from hindsight_core.errors import BankError, StorageBusy, StorageError, StorageNewer
from hindsight_core.identity import fact_id as identity_of
from hindsight_core.storage import Database, Schema

if TYPE_CHECKING:
    import sqlite3

    from hindsight_core.banks.vector.change import Change
    from hindsight_core.banks.vector.shared import Record
    from hindsight_core.memory import Fact

T = TypeVar("T")
_MOST_VALUES = 500

# No text of a fact is here: the store has it. `content` is the identity of a sentence.
_FIRST = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE facts (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, content TEXT NOT NULL,
    state TEXT NOT NULL, moment INTEGER NOT NULL
);
CREATE INDEX facts_by_content ON facts (content);
CREATE INDEX facts_by_state ON facts (state, moment);
CREATE TABLE documents (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, body TEXT NOT NULL,
    moment INTEGER NOT NULL
);
CREATE TABLE members (
    document_id TEXT NOT NULL, fact_id TEXT NOT NULL, position INTEGER NOT NULL,
    PRIMARY KEY (document_id, fact_id)
);
CREATE INDEX members_by_fact ON members (fact_id);
CREATE TABLE forgotten (content TEXT PRIMARY KEY);
"""
SCHEMA = Schema(name="vector-side", migrations=(_FIRST,))


class Side:
    """The side table of one bank.

    Args:
        path: Its file, beside the embedded banks.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._database = Database(path, SCHEMA, synchronous="FULL")

    async def rows(self, query: str, *values: object) -> list[Any]:
        """Rows of one query."""
        read = self._database.read
        return await self._guard(read(lambda c: c.execute(query, values).fetchall()))

    async def rows_of(self, query: str, keys: Iterable[str]) -> list[Any]:
        """Rows of a query with ``{}`` for any number of keys."""
        wanted = list(dict.fromkeys(keys))
        found: list[Any] = []
        for start in range(0, len(wanted), _MOST_VALUES):
            part = wanted[start : start + _MOST_VALUES]
            found += await self.rows(query.format(", ".join("?" * len(part))), *part)
        return found

    async def meta(self, key: str) -> str | None:
        """A value kept about the bank."""
        found = await self.rows("SELECT value FROM meta WHERE key = ?", key)
        return found[0][0] if found else None

    async def set_meta(self, key: str, value: str) -> None:
        """Keep a value about the bank."""
        await self._write(lambda c: _set_meta(c, key, value))

    async def saying(self, contents: Iterable[str]) -> dict[str, str]:
        """Id of the fact that says a sentence, by the sentence's identity; a valid one first."""
        rows = await self.rows_of(
            "SELECT content, id FROM facts WHERE content IN ({})"
            " ORDER BY state = 'valid', seq DESC",
            contents,
        )
        return dict(rows)

    async def members(self, document_id: str) -> list[str]:
        """Ids of a document's facts, in order."""
        rows = await self.rows(
            "SELECT fact_id FROM members WHERE document_id = ? ORDER BY position", document_id
        )
        return [row[0] for row in rows]

    async def elsewhere(self, fact_ids: Iterable[str], document_id: str) -> dict[str, str]:
        """Facts that another document holds too, with that document."""
        rows = await self.rows_of(
            "SELECT fact_id, document_id FROM members WHERE fact_id IN ({}) ORDER BY document_id"
            " DESC",
            fact_ids,
        )
        return {fact: document for fact, document in rows if document != document_id}

    async def forgotten(self, contents: Iterable[str]) -> set[str]:
        """Which of these sentences were deleted for good."""
        rows = await self.rows_of("SELECT content FROM forgotten WHERE content IN ({})", contents)
        return {row[0] for row in rows}

    async def counts(self) -> dict[str, int]:
        """Facts by state, and ``documents``."""
        return dict(
            await self.rows(
                "SELECT state, count(*) FROM facts GROUP BY state"
                " UNION ALL SELECT 'documents', count(*) FROM documents"
            )
        )

    async def apply(self, change: Change, *, now: datetime, revision: str | None) -> None:
        """Take over what the store has just been told."""

        def work(connection: sqlite3.Connection) -> None:
            _apply(connection, change, now=now)
            if revision is not None:
                _set_meta(connection, "revision", revision)

        await self._write(work)

    async def rebuild(
        self, facts: Sequence[Fact], records: Sequence[Record], *, now: datetime, revision: str
    ) -> None:
        """Make it anew from what the store holds, oldest first."""
        await self._write(lambda c: _rebuild(c, facts, records, now=now, revision=revision))

    async def close(self) -> None:
        """Release the file."""
        self._database.close()

    async def _write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await self._guard(self._database.write(work))

    async def _guard(self, running: Awaitable[T]) -> T:
        try:
            return await running
        except StorageNewer as error:
            raise BankError(str(error), retryable=False) from error
        except StorageError as error:
            busy = isinstance(error, StorageBusy) or "full" in str(error)
            raise BankError(f"side table: {error}", retryable=busy) from error


def _apply(connection: sqlite3.Connection, change: Change, *, now: datetime) -> None:
    for fact in (*change.seen.values(), *change.facts.values()):
        _put_fact(connection, fact, now=now)
    for fact_id in change.gone:
        connection.execute("DELETE FROM facts WHERE id = ?", (fact_id,))
        connection.execute("DELETE FROM members WHERE fact_id = ?", (fact_id,))
    for document_id in change.gone_documents:
        connection.execute("DELETE FROM documents WHERE id = ?", (document_id,))
        connection.execute("DELETE FROM members WHERE document_id = ?", (document_id,))
    for document, fact_ids in change.documents.values():
        stored = change.stored.get(document.id, micros(now))
        body = document_body(document, fact_ids, stored=stored)
        said = micros(document.timestamp) if document.timestamp else stored
        _put_document(connection, document.id, body, fact_ids, moment=said)
    connection.executemany(
        "INSERT OR IGNORE INTO forgotten VALUES (?)", [(c,) for c in change.forget]
    )
    connection.executemany("DELETE FROM forgotten WHERE content = ?", [(c,) for c in change.allow])


def _rebuild(
    connection: sqlite3.Connection,
    facts: Sequence[Fact],
    records: Sequence[Record],
    *,
    now: datetime,
    revision: str,
) -> None:
    for table in ("facts", "documents", "members", "forgotten"):
        connection.execute(f"DELETE FROM {table}")
    homes: dict[str, list[str]] = {}
    for fact in facts:
        _put_fact(connection, fact, now=now)
        if fact.document_id is not None:
            homes.setdefault(fact.document_id, []).append(fact.id)
    here = {fact.id for fact in facts}
    bodies: Mapping[str, str] = {r.key: r.body for r in records if r.kind == "document"}
    for key, body in sorted(bodies.items(), key=lambda item: (stored_in(item[1]), item[0])):
        named = [fact_id for fact_id in members_in(body) if fact_id in here]
        fact_ids = list(dict.fromkeys((*named, *homes.pop(key, ()))))
        _put_document(connection, key, body, fact_ids, moment=stored_in(body))
    for key, fact_ids in homes.items():
        _put_document(connection, key, "{}", fact_ids, moment=micros(now))
    connection.executemany(
        "INSERT OR IGNORE INTO forgotten VALUES (?)",
        [(r.key,) for r in records if r.kind == "forgotten"],
    )
    _set_meta(connection, "revision", revision)


def _put_fact(connection: sqlite3.Connection, fact: Fact, *, now: datetime) -> None:
    connection.execute(
        "INSERT INTO facts (id, content, state, moment) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO"
        " UPDATE SET content = excluded.content, state = excluded.state, moment = excluded.moment",
        (fact.id, identity_of(fact.text), fact.state, moment(fact, now=now)),
    )


def _put_document(
    connection: sqlite3.Connection,
    document_id: str,
    body: str,
    fact_ids: Sequence[str],
    *,
    moment: int,
) -> None:
    connection.execute(
        "INSERT INTO documents (id, body, moment) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET"
        " body = excluded.body, moment = excluded.moment",
        (document_id, body, moment),
    )
    connection.execute("DELETE FROM members WHERE document_id = ?", (document_id,))
    connection.executemany(
        "INSERT OR IGNORE INTO members VALUES (?, ?, ?)",
        [(document_id, fact_id, n) for n, fact_id in enumerate(fact_ids)],
    )


def _set_meta(connection: sqlite3.Connection, key: str, value: str) -> None:
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))
