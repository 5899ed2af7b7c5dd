"""The embedded bank: every bank operation as a short function on the file's worker threads."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from hindsight_core.banks.base import Capabilities
from hindsight_core.banks.sqlite import documents, erase, facts, index, meta, retain, transfer
from hindsight_core.banks.sqlite.rows import to_micros
from hindsight_core.banks.sqlite.schema import SCHEMA
from hindsight_core.banks.sqlite.search import Searcher
from hindsight_core.errors import BankError, StorageBusy, StorageError, StorageNewer
from hindsight_core.memory import (
    BankStats,
    Document,
    DocumentPage,
    Fact,
    FactPage,
    FactState,
    Hit,
    Query,
    Receipt,
)
from hindsight_core.services import Clock, utc_now
from hindsight_core.storage import Database

if TYPE_CHECKING:
    import sqlite3

    from hindsight_core.providers.base import Embedder

T = TypeVar("T")
_STATES = ("valid", "superseded", "invalidated", "pending")


class SqliteBank:
    """A `Bank` in one SQLite file.

    Args:
        bank_id: Its id.
        path: Its file.
        clock: Dates what is stored.
        embedder: Gives vectors; None for words alone.
        logger: For what does not stop a call, such as an embedder that is away.
        busy_ms: How long a write waits for another process.
    """

    backend = "sqlite"

    def __init__(
        self,
        bank_id: str,
        path: Path,
        *,
        clock: Clock = utc_now,
        embedder: Embedder | None = None,
        logger: logging.Logger | None = None,
        busy_ms: int = 5000,
    ) -> None:
        self.id = bank_id
        self.path = path
        self.capabilities = Capabilities(vectors=embedder is not None)
        self._clock = clock
        self._embedder = embedder
        self._log = logger or logging.getLogger("hindsight_core")
        self._database = Database(path, SCHEMA, synchronous="FULL", busy_ms=busy_ms)
        self._searcher = Searcher(bank_id)
        self._told_aside = False

    @property
    def set_aside(self) -> Path | None:
        """Where a corrupt file was moved when this bank was opened."""
        return self._database.set_aside

    async def identity(self) -> str:
        """Made with the file: another value means that another file has taken its place."""
        found: str | None = await self._read(meta.identity)
        return found or await self._write(meta.make_identity)

    async def ensure(self) -> None:
        """Create the file if it is not there; idempotent."""
        await self._read(lambda connection: None)

    async def retain(self, document: Document) -> Receipt:
        """Store a document with its facts in one transaction."""
        now = self._now()
        done = await self._write(lambda connection: retain.store(connection, document, now=now))
        return Receipt(
            outcome="stored" if done.changed else "known",
            document_id=document.id,
            fact_ids=done.fact_ids,
        )

    async def recall(self, query: Query) -> list[Hit]:
        """Valid facts for a query, best first."""
        return await self._read(lambda connection: self._searcher.search(connection, query))

    async def stats(self) -> BankStats:
        """Counts, kept by triggers."""
        counts = dict(await self._read(lambda c: c.execute("SELECT * FROM counts").fetchall()))
        size = self.path.stat().st_size if self.path.exists() else 0
        return BankStats(
            documents=counts.get("documents", 0),
            facts=counts.get("valid", 0),
            states={state: counts[state] for state in _STATES if counts.get(state)},
            bytes=size,
        )

    async def list_facts(
        self,
        *,
        state: FactState | None = "valid",
        limit: int = 50,
        offset: int = 0,
        search: str | None = None,
        document_id: str | None = None,
    ) -> FactPage:
        """Facts newest first; ``state`` None for all."""
        wanted = facts.Listing(state, limit, offset, search, document_id)
        return await self._read(lambda connection: facts.listing(connection, wanted))

    async def get_fact(self, fact_id: str) -> Fact | None:
        """One fact in any state."""
        held = await self._read(lambda connection: facts.find(connection, fact_id))
        return None if held is None else held.fact

    async def edit_fact(
        self, fact_id: str, *, text: str | None = None, tags: Sequence[str] | None = None
    ) -> Fact:
        """Change a fact in place; its id stays."""
        held = await self._write(lambda c: facts.edit(c, fact_id, text=text, tags=tags))
        return held.fact

    async def set_state(
        self,
        fact_id: str,
        state: FactState,
        *,
        reason: str | None = None,
        superseded_by: str | None = None,
    ) -> Fact:
        """Retire or restore a fact; a pinned one is not retired."""
        return await self._write(
            lambda c: facts.set_state(c, fact_id, state, reason=reason, superseded_by=superseded_by)
        )

    async def pin_fact(self, fact_id: str, *, pinned: bool) -> Fact:
        """Protect a fact from automatic retirement, or end that."""
        return await self._write(lambda c: facts.pin(c, fact_id, pinned=pinned))

    async def delete_fact(self, fact_id: str) -> bool:
        """Delete without a trace of the text; automatic memorizing does not bring it back."""
        now = self._now()
        found = await self._write(lambda c: erase.fact(c, fact_id, now=now))
        await self._read(erase.checkpoint)
        return found

    async def list_documents(self, *, limit: int = 50, offset: int = 0) -> DocumentPage:
        """Documents, newest first."""
        return await self._read(lambda c: documents.listing(c, limit=limit, offset=offset))

    async def get_document(self, document_id: str) -> Document | None:
        """One document with its facts."""
        return await self._read(lambda connection: documents.find(connection, document_id))

    async def delete_document(self, document_id: str) -> bool:
        """Delete a document and the facts that no other document holds."""
        found = await self._write(lambda c: erase.document(c, document_id))
        await self._read(erase.checkpoint)
        return found

    async def import_facts(self, facts: Iterable[Fact]) -> int:
        """Bulk upsert by id, a transaction a few thousand facts."""
        now, done = self._now(), 0
        for batch in transfer.batches(facts):
            done += await self._write(partial(transfer.load, batch=batch, now=now))
        return done

    async def export_facts(self) -> AsyncIterator[Fact]:
        """Every fact in every state, in order of storage."""
        last = 0
        while True:
            page = await self._read(partial(transfer.page, after=last, limit=transfer.BATCH))
            if not page:
                return
            for row, fact in page:
                last = row
                yield fact

    async def rebuild_index(self) -> int:
        """Make the full-text index anew from the facts; how many it holds."""
        return await self._write(index.rebuild)

    async def close(self) -> None:
        """Release the file."""
        self._database.close()

    def _now(self) -> int:
        return to_micros(self._clock()) or 0

    async def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await self._guard(self._database.read, work)

    async def _write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await self._guard(self._database.write, work)

    async def _guard(self, run: Callable[..., object], work: Callable[..., T]) -> T:
        try:
            result: T = await run(work)  # type: ignore[misc]
        except StorageBusy as error:
            raise BankError(f"bank {self.id}: {error}", retryable=True) from error
        except StorageNewer as error:
            raise BankError(str(error), retryable=False) from error
        except StorageError as error:
            raise BankError(f"bank {self.id}: {error}", retryable="full" in str(error)) from error
        if self._database.set_aside is not None and not self._told_aside:
            self._told_aside = True
            self._log.warning(
                "bank %s was corrupt: its file was set aside as %s and a new one started;"
                " import your last export with `bank import`",
                self.id,
                self._database.set_aside,
            )
        return result
