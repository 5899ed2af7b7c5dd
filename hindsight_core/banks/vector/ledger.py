"""Store and side table kept in step: reads, and the writes of one operation."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from hindsight_core.banks.vector.bodies import document_body, micros
from hindsight_core.banks.vector.change import Change
from hindsight_core.banks.vector.shared import Record, SharedVectorBank
from hindsight_core.errors import BankError

if TYPE_CHECKING:
    from hindsight_core.banks.base import VectorBank
    from hindsight_core.banks.vector.side import Side
    from hindsight_core.banks.vector.vectors import Vectors
    from hindsight_core.memory import Fact
    from hindsight_core.services import Clock

BATCH = 200


class Ledger:
    """A vector store with its side table.

    The store is written first and the side table last, so that a write that broke off is found
    out: a shared store has another revision then, and the side table is made anew from it; with
    a plain store the same write again finds its facts by their ids.

    Args:
        store: Facts and vectors.
        side: What is listed and counted.
        vectors: The embedder.
        clock: Aware UTC now.
    """

    def __init__(self, store: VectorBank, side: Side, vectors: Vectors, *, clock: Clock) -> None:
        self.store = store
        self.side = side
        self.vectors = vectors
        self.clock = clock
        self._lock = asyncio.Lock()
        self._checked = False

    async def open(self) -> None:
        """Create what is missing.

        Raises:
            BankError: The vectors there are another embedder's.
        """
        if isinstance(self.store, SharedVectorBank):
            await self.store.open(
                identity=self.vectors.identity, dimensions=self.vectors.dimensions
            )
        elif not self._checked:
            await self._check_identity()
            self._checked = True

    async def refresh(self) -> None:
        """Take over what others wrote to a shared store."""
        await self.open()
        store = self.store
        if not isinstance(store, SharedVectorBank):
            return
        revision = await store.revision() or ""
        if revision == (await self.side.meta("revision") or ""):
            return
        facts = [fact async for fact in store.scan()]
        now = self.clock()
        facts.sort(key=lambda fact: (fact.created_at or now, fact.id))
        # What is written meanwhile names another revision, and is taken over next time.
        await self.side.rebuild(facts, await store.records(), now=now, revision=revision)

    async def facts(self, fact_ids: Iterable[str]) -> dict[str, Fact]:
        """Facts by id, those that exist."""
        wanted = list(dict.fromkeys(i for i in fact_ids if i))
        found: dict[str, Fact] = {}
        for start in range(0, len(wanted), BATCH):
            for fact in await self.store.get(wanted[start : start + BATCH]):
                found[fact.id] = fact
        return found

    async def required(self, fact_id: str) -> Fact:
        """One fact.

        Raises:
            BankError: It is not there.
        """
        held = (await self.facts([fact_id])).get(fact_id)
        if held is None:
            raise BankError(
                f"no fact {fact_id} in this bank; `facts list --state all` shows the ids",
                retryable=False,
            )
        return held

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[Change]:
        """Collect the writes of one operation, then write them; one operation at a time."""
        async with self._lock:
            await self.refresh()
            change = Change()
            yield change
            await self._commit(change)

    async def _commit(self, change: Change) -> None:
        store, revision = self.store, None
        vectors = await self._embedded(change)
        if change.writes and isinstance(store, SharedVectorBank):
            revision = uuid.uuid4().hex
            await store.set_revision(revision)
            await self._write_records(store, change)
        plain = [fact for fact in change.facts.values() if fact.id not in vectors]
        if plain and isinstance(store, SharedVectorBank):
            await store.update(plain)
        fresh = [fact for fact in change.facts.values() if fact.id in vectors]
        for start in range(0, len(fresh), BATCH):
            part = fresh[start : start + BATCH]
            await store.add(part, [vectors[fact.id] for fact in part])
        if change.gone:
            await store.delete(sorted(change.gone))
        if change.writes or change.seen:
            await self.side.apply(change, now=self.clock(), revision=revision)

    async def _embedded(self, change: Change) -> dict[str, Sequence[float]]:
        """Vectors of the facts that need one: all of them where the store keeps none of its own."""
        facts = list(change.facts.values())
        if isinstance(self.store, SharedVectorBank):
            facts = [fact for fact in facts if fact.id in change.embed]
        found = await self.vectors.of([fact.text for fact in facts], kind="document")
        return {fact.id: vector for fact, vector in zip(facts, found, strict=True)}

    async def _write_records(self, store: SharedVectorBank, change: Change) -> None:
        now = micros(self.clock())
        stored = change.stored
        await store.put_records(
            [
                *(
                    Record(
                        "document",
                        key,
                        document_body(document, fact_ids, stored=stored.get(key, now)),
                    )
                    for key, (document, fact_ids) in change.documents.items()
                ),
                *(Record("forgotten", content) for content in change.forget),
            ]
        )
        await store.drop_records(
            [
                *(Record("document", key) for key in change.gone_documents),
                *(Record("forgotten", content) for content in change.allow),
            ]
        )

    async def _check_identity(self) -> None:
        held, now = await self.side.meta("embedder"), self.vectors.identity
        if held is None:
            await self.side.set_meta("embedder", now)
        elif held != now:
            raise BankError(other_embedder(f"bank {self.store.id}", held, now), retryable=False)


def other_embedder(what: str, held: str, now: str) -> str:
    """The message for vectors that cannot be compared, with the way out."""
    return (
        f"{what} holds vectors of the embedder {held}, and now {now} is configured. Set "
        "embeddings.* back; or `bank export`, choose a new bank or collection, and `bank import`."
    )
