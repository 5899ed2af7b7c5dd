"""The embedded bank: every bank operation as a short function on the file's worker threads."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from hindsight_core.banks.base import Capabilities
from hindsight_core.banks.sqlite import (
    copying,
    documents,
    erase,
    facts,
    index,
    meta,
    retain,
    transfer,
    vectors,
)
from hindsight_core.banks.sqlite.embedding import Embedding
from hindsight_core.banks.sqlite.guard import BankFile
from hindsight_core.banks.sqlite.rows import to_micros
from hindsight_core.banks.sqlite.search import Searcher
from hindsight_core.banks.sqlite.vectors import VectorState
from hindsight_core.memory import (
    BankStats,
    Document,
    DocumentCopy,
    DocumentPage,
    Fact,
    FactPage,
    FactState,
    Hit,
    Query,
    Receipt,
)
from hindsight_core.services import Clock, utc_now

if TYPE_CHECKING:
    import sqlite3

    from hindsight_core.providers.base import Embedder

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
        self._log = logger or logging.getLogger("hindsight_core")
        self._file = BankFile(bank_id, path, busy_ms=busy_ms, logger=self._log)
        self._embedding = Embedding(embedder, self._log) if embedder is not None else None
        self._searcher = Searcher(bank_id)

    @property
    def set_aside(self) -> Path | None:
        """Where a corrupt file was moved when this bank was opened."""
        return self._file.set_aside

    async def identity(self) -> str:
        """Made with the file: another value means that another file has taken its place."""
        found = await self._file.read(meta.identity)
        return found if found else await self._file.write(meta.make_identity)

    async def ensure(self) -> None:
        """Create the file if it is not there; idempotent."""
        await self._file.make()

    async def retain(self, document: Document) -> Receipt:
        """Store a document with its facts in one transaction."""
        now = self._now()
        done = await self._file.write(
            lambda connection: retain.store(connection, document, now=now)
        )
        if self._embedding is not None:
            await self._embedding.after_write(self._file, done.rows)
        return Receipt(
            outcome="stored" if done.changed else "known",
            document_id=document.id,
            fact_ids=done.fact_ids,
        )

    async def recall(self, query: Query) -> list[Hit]:
        """Valid facts for a query, best first; without its vectors when the embedder is away."""
        embedding = self._embedding
        vector = None
        if embedding is not None:
            vector = await embedding.query(query.text, context=query.context)

        def search(connection: sqlite3.Connection) -> list[Hit]:
            if embedding is None or vector is None:
                return self._searcher.search(connection, query)
            near = embedding.table.nearness(connection, vector)
            return self._searcher.search(connection, query, nearness=near)

        return await self._file.read(search)

    async def stats(self) -> BankStats:
        """Counts, kept by triggers."""
        counts = dict(await self._file.read(lambda c: c.execute("SELECT * FROM counts").fetchall()))
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
        return await self._file.read(lambda connection: facts.listing(connection, wanted))

    async def get_fact(self, fact_id: str) -> Fact | None:
        """One fact in any state."""
        held = await self._file.read(lambda connection: facts.find(connection, fact_id))
        return None if held is None else held.fact

    async def edit_fact(
        self, fact_id: str, *, text: str | None = None, tags: Sequence[str] | None = None
    ) -> Fact:
        """Change a fact in place; its id stays, and what it said before leaves no trace."""

        def edit(connection: sqlite3.Connection) -> Fact:
            held = facts.required(connection, fact_id)
            if text is not None:
                documents.reword(connection, held.row, held.fact.text, text)
            edited = facts.edit(connection, held, text=text, tags=tags)
            if text is not None:
                erase.scrub(connection)
            return edited

        edited = await self._file.write(edit)
        await self._file.read(erase.checkpoint)
        return edited

    async def set_state(
        self,
        fact_id: str,
        state: FactState,
        *,
        reason: str | None = None,
        superseded_by: str | None = None,
    ) -> Fact:
        """Retire or restore a fact; a pinned one is not retired."""
        return await self._file.write(
            lambda c: facts.set_state(c, fact_id, state, reason=reason, superseded_by=superseded_by)
        )

    async def pin_fact(self, fact_id: str, *, pinned: bool) -> Fact:
        """Protect a fact from automatic retirement, or end that."""
        return await self._file.write(lambda c: facts.pin(c, fact_id, pinned=pinned))

    async def delete_fact(self, fact_id: str) -> bool:
        """Delete without a trace of the text; automatic memorizing does not bring it back."""
        now = self._now()
        found = await self._file.write(lambda c: erase.fact(c, fact_id, now=now))
        await self._file.read(erase.checkpoint)
        return found

    async def list_documents(self, *, limit: int = 50, offset: int = 0) -> DocumentPage:
        """Documents, newest first."""
        return await self._file.read(lambda c: documents.listing(c, limit=limit, offset=offset))

    async def get_document(self, document_id: str) -> Document | None:
        """One document with its facts."""
        return await self._file.read(lambda connection: documents.find(connection, document_id))

    async def delete_document(self, document_id: str) -> bool:
        """Delete a document and the facts that no other document holds."""
        found = await self._file.write(lambda c: erase.document(c, document_id))
        await self._file.read(erase.checkpoint)
        return found

    async def import_facts(self, facts: Iterable[Fact]) -> int:
        """Bulk upsert by id, a transaction a few thousand facts."""
        now, done = self._now(), 0
        for batch in transfer.batches(facts):
            done += await self._file.write(partial(transfer.load, batch=batch, now=now))
        return done

    async def export_facts(self) -> AsyncIterator[Fact]:
        """Every fact in every state, in order of storage."""
        last = 0
        while True:
            page = await self._file.read(partial(transfer.page, after=last, limit=transfer.BATCH))
            if not page:
                return
            for row, fact in page:
                last = row
                yield fact

    async def export_documents(self) -> AsyncIterator[DocumentCopy]:
        """Every document, in order of storage."""
        last = 0
        while page := await self._file.read(partial(copying.page, after=last)):
            for row, copy in page:
                last = row
                yield copy

    async def import_documents(self, copies: Iterable[DocumentCopy]) -> int:
        """Bulk upsert by id, a transaction a few hundred documents."""
        now, done, source = self._now(), 0, iter(copies)
        while batch := list(islice(source, copying.BATCH)):
            done += await self._file.write(partial(copying.load, copies=batch, now=now))
        return done

    async def forgotten(self) -> frozenset[str]:
        """Identities of the sentences that were deleted for good."""
        return await self._file.read(copying.forgotten)

    async def forget(self, contents: Iterable[str]) -> int:
        """Let no automatic write bring these sentences back."""
        wanted = list(contents)
        return await self._file.write(partial(copying.forget, contents=wanted, now=self._now()))

    async def rebuild_index(self) -> int:
        """Make the full-text index anew from the facts; how many it holds."""
        return await self._file.write(index.rebuild)

    async def vacuum(self) -> None:
        """Give the space of what was deleted back to the disk."""
        await self._file.vacuum()

    async def vector_state(self) -> VectorState:
        """How many facts have a vector of the embedder in use."""
        identity = self._embedding.table.identity if self._embedding else None
        return await self._file.read(lambda connection: vectors.state(connection, identity))

    async def reembed(self, progress: Callable[[int], None] | None = None) -> int:
        """Make the vectors that are missing, resumable; how many were made.

        Needed after a change of the embedder, and after a bulk import: until then facts are
        found by their words.

        Raises:
            ProviderError: The embedder failed; what was done before stays.
        """
        if self._embedding is None:
            return 0
        return await self._embedding.catch_up(self._file, progress=progress)

    async def close(self) -> None:
        """Release the file."""
        self._file.close()

    def _now(self) -> int:
        return to_micros(self._clock()) or 0
