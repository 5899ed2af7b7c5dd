"""The adapter: a whole `Bank` of a vector store and an embedder."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from hindsight_core.banks.base import Capabilities
from hindsight_core.banks.vector import copying, documents, listing
from hindsight_core.banks.vector.ledger import Ledger
from hindsight_core.banks.vector.retain import plan
from hindsight_core.banks.vector.side import Side
from hindsight_core.banks.vector.vectors import Vectors
from hindsight_core.errors import BankError
from hindsight_core.identity import fact_id as identity_of
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
    from hindsight_core.banks.base import VectorBank
    from hindsight_core.providers.base import Embedder

LEAST = 0.05
"""Hits under this likeness have nothing to do with the question."""
_STATES = ("valid", "superseded", "invalidated", "pending")
_RETIRED = ("superseded", "invalidated")


class VectorAdapter:
    """A `Bank` over a `VectorBank`.

    The store holds the facts, whole, with their vectors. A small local file, the side table,
    holds what a vector store cannot tell: the order of storage, counts, which document holds
    which facts, and the identities of sentences that were deleted for good; never a fact's text.
    Over a plain `VectorBank` it is the only place of these, so that such a bank belongs to one
    machine; over a `SharedVectorBank` it is a cache of what the store holds.

    A search is by meaning alone: no words are looked up. `Scope.document_id` finds a sentence
    that several documents tell under the first of them.

    Args:
        store: Facts and vectors.
        embedder: Gives the vectors.
        side: File of the side table.
        clock: Dates what is stored.
        backend: Name of the backend, for people.
    """

    def __init__(
        self,
        store: VectorBank,
        embedder: Embedder,
        *,
        side: Path,
        clock: Clock = utc_now,
        backend: str = "vector",
    ) -> None:
        self.id = store.id
        self.backend = backend
        self.capabilities = Capabilities(vectors=True)
        self._store = store
        self._vectors = Vectors(embedder, bank=store.id)
        self._side = Side(side)
        self._ledger = Ledger(store, self._side, self._vectors, clock=clock)
        self._clock = clock

    async def ensure(self) -> None:
        """Create it if it is not there; idempotent."""
        await self._ledger.open()

    async def retain(self, document: Document) -> Receipt:
        """Store a document with its facts, replacing the document of the same id."""
        async with self._ledger.writing() as change:
            known = await documents.known(self._ledger, document)
            stored = plan(document, known, change, now=self._clock())
        return Receipt(
            outcome="stored" if stored.changed else "known",
            document_id=document.id,
            fact_ids=stored.fact_ids,
        )

    async def recall(self, query: Query) -> list[Hit]:
        """Valid facts by meaning, best first."""
        if query.limit <= 0 or not query.text.strip():
            return []
        await self._ledger.open()
        [vector] = await self._vectors.of([query.text], kind="query")
        least = max(LEAST, query.min_score or 0.0)
        hits = [
            replace(hit, bank=self.id, score=min(1.0, hit.score), parts={"vectors": hit.score})
            for hit in await self._store.search(vector, query)
            if hit.score >= least and hit.fact.state == "valid"
        ]
        return sorted(hits, key=lambda hit: (-hit.score, hit.fact.id))[: query.limit]

    async def stats(self) -> BankStats:
        """Counts of the side table."""
        await self._ledger.refresh()
        counts = await self._side.counts()
        return BankStats(
            documents=counts.get("documents", 0),
            facts=counts.get("valid", 0),
            states={state: counts[state] for state in _STATES if counts.get(state)},
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
        """Facts newest first; a search reads through all that match otherwise."""
        await self._ledger.refresh()
        wanted = listing.Listing(state, max(0, limit), max(0, offset), search, document_id)
        return await listing.page(self._ledger, wanted)

    async def get_fact(self, fact_id: str) -> Fact | None:
        """One fact in any state."""
        await self._ledger.open()
        return (await self._ledger.facts([fact_id])).get(fact_id)

    async def edit_fact(
        self, fact_id: str, *, text: str | None = None, tags: Sequence[str] | None = None
    ) -> Fact:
        """Change a fact in place; its id stays, a new text gets a new vector."""
        async with self._ledger.writing() as change:
            held = await self._ledger.required(fact_id)
            if text is not None and not text.strip():
                raise BankError(
                    f"fact {fact_id} cannot be made empty; delete or invalidate it",
                    retryable=False,
                )
            said = held.text if text is None else text
            fresh = replace(held, text=said, tags=held.tags if tags is None else tuple(tags))
            return change.put(fresh, embed=said != held.text)

    async def set_state(
        self,
        fact_id: str,
        state: FactState,
        *,
        reason: str | None = None,
        superseded_by: str | None = None,
    ) -> Fact:
        """Retire or restore a fact; a pinned one is not retired."""
        async with self._ledger.writing() as change:
            held = await self._ledger.required(fact_id)
            if held.pinned and state in _RETIRED:
                raise BankError(
                    f"fact {fact_id} is pinned and stays valid; unpin it first", retryable=False
                )
            fresh = replace(
                held,
                state=state,
                reason=None if state == "valid" else reason,
                superseded_by=superseded_by if state == "superseded" else None,
            )
            return change.put(fresh)

    async def pin_fact(self, fact_id: str, *, pinned: bool) -> Fact:
        """Protect a fact from automatic retirement, or end that."""
        async with self._ledger.writing() as change:
            return change.put(replace(await self._ledger.required(fact_id), pinned=pinned))

    async def delete_fact(self, fact_id: str) -> bool:
        """Delete it here and in the store; automatic memorizing does not bring it back."""
        async with self._ledger.writing() as change:
            held = (await self._ledger.facts([fact_id])).get(fact_id)
            if held is None:
                return False
            change.drop([fact_id])
            change.forget.add(identity_of(held.text))
            return True

    async def list_documents(self, *, limit: int = 50, offset: int = 0) -> DocumentPage:
        """Documents, newest first."""
        await self._ledger.refresh()
        return await documents.listing(self._ledger, limit=max(0, limit), offset=max(0, offset))

    async def get_document(self, document_id: str) -> Document | None:
        """One document with its facts."""
        await self._ledger.refresh()
        return await documents.find(self._ledger, document_id)

    async def delete_document(self, document_id: str) -> bool:
        """Delete a document and the facts that no other document holds."""
        async with self._ledger.writing() as change:
            return await documents.delete(self._ledger, document_id, change)

    async def import_facts(self, facts: Iterable[Fact]) -> int:
        """Bulk upsert by id, in portions."""
        source, done = iter(facts), 0
        while batch := list(islice(source, listing.PAGE)):
            async with self._ledger.writing() as change:
                done += await documents.load(self._ledger, batch, change)
        return done

    async def export_facts(self) -> AsyncIterator[Fact]:
        """Every fact in every state, in order of storage."""
        await self._ledger.refresh()
        async for fact in listing.in_order(self._ledger):
            yield fact

    async def export_documents(self) -> AsyncIterator[DocumentCopy]:
        """Every document, in order of storage."""
        await self._ledger.refresh()
        async for copy in copying.documents(self._ledger):
            yield copy

    async def import_documents(self, copies: Iterable[DocumentCopy]) -> int:
        """Bulk upsert by id, in portions."""
        source, done = iter(copies), 0
        while batch := list(islice(source, copying.PAGE)):
            async with self._ledger.writing() as change:
                done += await copying.load(self._ledger, batch, change)
        return done

    async def forgotten(self) -> frozenset[str]:
        """Identities of the sentences that were deleted for good."""
        await self._ledger.refresh()
        return await copying.forgotten(self._ledger)

    async def forget(self, contents: Iterable[str]) -> int:
        """Let no automatic write bring these sentences back."""
        async with self._ledger.writing() as change:
            change.forget |= set(contents) - await copying.forgotten(self._ledger)
            return len(change.forget)

    async def close(self) -> None:
        """Release the side table and the store's connections."""
        await self._side.close()
        close = getattr(self._store, "close", None)
        if close is not None:
            await close()
