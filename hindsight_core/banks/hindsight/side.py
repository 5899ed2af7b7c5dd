"""The local side table: what a Hindsight server has no place for, in one file a bank."""

from __future__ import annotations

import json
import uuid
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from hindsight_core.banks.hindsight.hits import moment
from hindsight_core.errors import BankError, StorageBusy, StorageError, StorageNewer
from hindsight_core.memory import Document
from hindsight_core.storage import Database, Schema

if TYPE_CHECKING:
    import sqlite3

T = TypeVar("T")

# Facts and their states are on the server. Here: which of our facts a document holds (the server
# gives each of them a document of its own), pins, sentences that were deleted for good, and the
# identity of a write that is under way.
_FIRST = """
CREATE TABLE documents (id TEXT PRIMARY KEY, body TEXT NOT NULL);
CREATE TABLE members (
    document_id TEXT NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    fact_id TEXT NOT NULL, position INTEGER NOT NULL,
    PRIMARY KEY (document_id, fact_id)
);
CREATE INDEX members_by_fact ON members (fact_id);
CREATE TABLE pins (fact_id TEXT PRIMARY KEY);
CREATE TABLE forgotten (content TEXT PRIMARY KEY);
CREATE TABLE operations (document_id TEXT PRIMARY KEY, digest TEXT NOT NULL, id TEXT NOT NULL);
"""
SCHEMA = Schema(name="side", migrations=(_FIRST,))


class Side:
    """The side table of one bank.

    Args:
        path: Its file, beside the embedded banks.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._database = Database(path, SCHEMA, synchronous="FULL")

    async def document(self, document_id: str) -> Document | None:
        """A document of our facts, without them."""
        rows = await self._rows("SELECT body FROM documents WHERE id = ?", document_id)
        return _document(rows[0][0]) if rows else None

    async def documents(self) -> list[Document]:
        """Every document of our facts, newest first, without them."""
        rows = await self._rows("SELECT body FROM documents ORDER BY rowid DESC")
        return [_document(row[0]) for row in rows]

    async def members(self, document_id: str) -> list[str]:
        """Ids of a document's facts, in order."""
        rows = await self._rows(
            "SELECT fact_id FROM members WHERE document_id = ? ORDER BY position", document_id
        )
        return [row[0] for row in rows]

    async def counts(self) -> tuple[int, int]:
        """How many documents of our facts there are, and how many facts they hold."""
        [row] = await self._rows(
            "SELECT (SELECT count(*) FROM documents), (SELECT count(DISTINCT fact_id) FROM members)"
        )
        return row[0], row[1]

    async def put(self, document: Document, fact_ids: Sequence[str]) -> None:
        """Say what a document holds now."""
        body = _body(document)

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(
                "INSERT INTO documents VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET body = ?",
                (document.id, body, body),
            )
            connection.execute("DELETE FROM members WHERE document_id = ?", (document.id,))
            connection.executemany(
                "INSERT OR IGNORE INTO members VALUES (?, ?, ?)",
                [(document.id, fact_id, n) for n, fact_id in enumerate(fact_ids)],
            )

        await self._write(work)

    async def join(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Put facts, each as (document id, fact id), at the end of their documents."""
        wanted = list(pairs)

        def work(connection: sqlite3.Connection) -> None:
            for document_id, fact_id in wanted:
                connection.execute(
                    "INSERT OR IGNORE INTO documents VALUES (?, ?)",
                    (document_id, _body(Document(document_id, ""))),
                )
                connection.execute(
                    "INSERT OR IGNORE INTO members SELECT ?, ?, coalesce(max(position), -1) + 1 "
                    "FROM members WHERE document_id = ?",
                    (document_id, fact_id, document_id),
                )

        await self._write(work)

    async def drop_document(self, document_id: str) -> bool:
        """Forget a document; False when it was not there."""
        return await self._change("DELETE FROM documents WHERE id = ?", document_id)

    async def drop_fact(self, fact_id: str) -> None:
        """Forget a fact's place and its pin."""
        await self._change("DELETE FROM members WHERE fact_id = ?", fact_id)
        await self._change("DELETE FROM pins WHERE fact_id = ?", fact_id)

    async def elsewhere(self, fact_id: str, document_id: str) -> bool:
        """Whether another document holds the fact too."""
        query = "SELECT 1 FROM members WHERE fact_id = ? AND document_id <> ? LIMIT 1"
        return bool(await self._rows(query, fact_id, document_id))

    async def pinned(self) -> frozenset[str]:
        """Ids of the pinned facts."""
        return frozenset(row[0] for row in await self._rows("SELECT fact_id FROM pins"))

    async def pin(self, fact_id: str, *, pinned: bool) -> None:
        """Set or end a pin."""
        verb = "INSERT OR IGNORE INTO pins VALUES (?)"
        await self._change(verb if pinned else "DELETE FROM pins WHERE fact_id = ?", fact_id)

    async def forget(self, content: str) -> None:
        """Remember that a sentence was deleted for good, by its identity alone."""
        await self._change("INSERT OR IGNORE INTO forgotten VALUES (?)", content)

    async def allow(self, content: str) -> None:
        """End that."""
        await self._change("DELETE FROM forgotten WHERE content = ?", content)

    async def forgotten(self) -> frozenset[str]:
        """Identities of the sentences that were deleted for good."""
        return frozenset(row[0] for row in await self._rows("SELECT content FROM forgotten"))

    async def operation(self, document_id: str, digest: str) -> str:
        """The identity of a write: the same until it has ended, so that it happens once."""

        def work(connection: sqlite3.Connection) -> str:
            row = connection.execute(
                "SELECT id FROM operations WHERE document_id = ? AND digest = ?",
                (document_id, digest),
            ).fetchone()
            if row:
                return str(row[0])
            new = str(uuid.uuid4())
            connection.execute(
                "INSERT OR REPLACE INTO operations VALUES (?, ?, ?)", (document_id, digest, new)
            )
            return new

        return await self._write(work)

    async def operation_ended(self, document_id: str) -> None:
        """The write has ended, well or not: the next one is another."""
        await self._change("DELETE FROM operations WHERE document_id = ?", document_id)

    async def close(self) -> None:
        """Release the file."""
        self._database.close()

    async def _rows(self, query: str, *values: str) -> list[Any]:
        return await _guarded(
            self._database.read(lambda connection: connection.execute(query, values).fetchall())
        )

    async def _change(self, query: str, *values: str) -> bool:
        return await self._write(lambda c: c.execute(query, values).rowcount > 0)

    async def _write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await _guarded(self._database.write(work))


async def _guarded(running: Awaitable[T]) -> T:
    try:
        return await running
    except StorageNewer as error:
        raise BankError(str(error), retryable=False) from error
    except StorageError as error:
        busy = isinstance(error, StorageBusy) or "full" in str(error)
        raise BankError(f"side table: {error}", retryable=busy) from error


def _body(document: Document) -> str:
    said = document.timestamp
    data = {
        "id": document.id,
        "text": document.text,
        "context": document.context,
        "tags": list(document.tags),
        "metadata": dict(document.metadata),
        "timestamp": said.isoformat() if said else None,
        "explicit": document.explicit,
    }
    return json.dumps(data, ensure_ascii=False)


def _document(body: str) -> Document:
    data = json.loads(body)
    return Document(
        id=data["id"],
        text=data["text"],
        context=data.get("context"),
        tags=tuple(data.get("tags") or ()),
        metadata=dict(data.get("metadata") or {}),
        timestamp=moment(data.get("timestamp")),
        explicit=bool(data.get("explicit")),
    )
