"""A bank on a Hindsight server: the server finds facts, composes answers, observes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hindsight_core.banks.base import Capabilities, MentalModel, Reflection
from hindsight_core.banks.hindsight.api import Api
from hindsight_core.banks.hindsight.client import Client
from hindsight_core.banks.hindsight.copying import Copying
from hindsight_core.banks.hindsight.documents import Documents
from hindsight_core.banks.hindsight.ensure import at_creation, ensure_bank
from hindsight_core.banks.hindsight.errors import ServerError
from hindsight_core.banks.hindsight.extracted import Extraction
from hindsight_core.banks.hindsight.facts import OWN, Facts
from hindsight_core.banks.hindsight.hits import answer_text
from hindsight_core.banks.hindsight.management import Management
from hindsight_core.banks.hindsight.mental import all_models, content_of
from hindsight_core.banks.hindsight.search import Searcher, reflect_body
from hindsight_core.banks.hindsight.side import Side
from hindsight_core.banks.hindsight.tags import tag_fields
from hindsight_core.banks.hindsight.transfer import import_facts
from hindsight_core.banks.hindsight.verbatim import Verbatim
from hindsight_core.errors import BankError
from hindsight_core.identity import fact_id as identity_of
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

if TYPE_CHECKING:
    import httpx

    from hindsight_core.config.settings import Settings


class HindsightBank(Copying):
    """A `Bank` and `ReflectingBank` on a server.

    A document without facts is text for the server's own extraction; facts that come with a
    document, or by import, are stored word for word. The server knows valid and invalidated
    facts: superseded and pending ones are invalidated there with that reason.

    Args:
        bank_id: Its id; on the server it has the same.
        settings: The sections ``hindsight``, ``recall`` and ``memorize``.
        side: File of the side table.
        clock: Dates what is stored.
        logger: For what stops no call.
        transport: For tests; None for the network.
    """

    backend = "hindsight"

    def __init__(
        self,
        bank_id: str,
        settings: Settings,
        *,
        side: Path,
        clock: Clock = utc_now,
        logger: logging.Logger | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.id = bank_id
        self.capabilities = Capabilities(
            extracts=True,
            reflects=True,
            observations=True,
            mental_models=True,
            hard_delete=False,
        )
        self.api = Api(Client(settings.hindsight, clock=clock, transport=transport), bank_id)
        self.management = Management(self.api)
        self._settings = settings
        self._log = logger or logging.getLogger("hindsight_core")
        self._side = Side(side)
        self._facts = Facts(self.api, self._side)
        self._verbatim = Verbatim(self.api, self._facts, self._side, clock)
        self._extraction = Extraction(
            self.api, self._facts, self._side, clock, strategy=settings.memorize.strategy
        )
        self._documents = Documents(self.api, self._facts, self._side, self._verbatim)
        self._searcher = Searcher(self.api, bank_id, settings.recall)
        self._ensuring = asyncio.Lock()
        self._ensured = False

    async def ensure(self) -> None:
        """Create the bank where it is missing, and set our missions where they differ."""
        chosen = self._settings.memorize
        missions = {
            "retain_mission": chosen.retain_mission,
            "observations_mission": chosen.observations_mission,
        }
        await ensure_bank(
            self.api,
            self.id,
            missions={key: text for key, text in missions.items() if text},
            at_creation=at_creation(self._settings.bank.entries, self.id),
            logger=self._log,
        )
        self._ensured = True

    async def retain(self, document: Document) -> Receipt:
        """Store a document; its facts are ours when it has any, else the server's."""
        await self._ready()
        if document.facts is not None:
            return await self._verbatim.store(document)
        return await self._extraction.store(document)

    async def append(self, document: Document, *, operation: str | None = None) -> Receipt:
        """Add a text, once; the whole document, earlier facts too, has these tags from now on."""
        await self._ready()
        return await self._extraction.store(document, append=True, operation=operation)

    async def appends(self) -> bool:
        """Whether the server answers and does an addition that is sent twice once."""
        try:
            return (await self.api.version()).exactly_once
        except BankError:
            return False

    async def recall(self, query: Query) -> list[Hit]:
        """What the server finds, within the scope; a bank that is not there yet is empty."""
        return await self._searcher.search(query)

    async def reflect(self, query: Query) -> Reflection:
        """An answer that the server composes; an empty bank is not asked, which would create it."""
        tags = tag_fields(query.scope.tags)
        if tags is None or not any(letter.isalnum() for letter in query.text):
            return Reflection("")
        if (await self.stats()).facts == 0:
            return Reflection("")
        answer = await self.api.reflect(reflect_body(query, tags))
        return Reflection(answer_text(answer), tuple(f"{self.id}:{i}" for i in _based_on(answer)))

    async def stats(self) -> BankStats:
        """Counts, asked for afresh; a bank that is not there yet has none."""
        try:
            told = await self.api.stats()
        except ServerError as error:
            if error.no_such_bank:
                return BankStats(0, 0)
            raise
        kinds = told.get("nodes_by_fact_type")
        observed = kinds.get("observation", 0) if isinstance(kinds, dict) else 0
        facts = max(0, int(told.get("total_nodes") or 0) - int(observed or 0))
        documents, members = await self._side.counts()
        total = int(told.get("total_documents") or 0)
        return BankStats(max(0, total - members) + documents, facts, {"valid": facts})

    async def list_facts(
        self,
        *,
        state: FactState | None = "valid",
        limit: int = 50,
        offset: int = 0,
        search: str | None = None,
        document_id: str | None = None,
    ) -> FactPage:
        """Facts newest first, without the observations derived from them."""
        if document_id is not None and await self._side.document(document_id):
            return await self._own_page(document_id, state, limit, offset, search)
        held, total = await self._facts.listing(
            state=state, search=search, document_id=document_id, most=offset + limit
        )
        return FactPage(tuple(item.fact for item in held[offset : offset + limit]), total)

    async def get_fact(self, fact_id: str) -> Fact | None:
        """One fact in any state."""
        held = await self._facts.find(fact_id)
        return held.fact if held else None

    async def edit_fact(
        self, fact_id: str, *, text: str | None = None, tags: Sequence[str] | None = None
    ) -> Fact:
        """Change a fact in place; tags only of a fact that we stored ourselves."""
        return await self._facts.edit(fact_id, text=text, tags=tags)

    async def set_state(
        self,
        fact_id: str,
        state: FactState,
        *,
        reason: str | None = None,
        superseded_by: str | None = None,
    ) -> Fact:
        """Retire or restore a fact; a pinned one is not retired."""
        return await self._facts.set_state(
            fact_id, state, reason=reason, superseded_by=superseded_by
        )

    async def pin_fact(self, fact_id: str, *, pinned: bool) -> Fact:
        """Protect a fact from automatic retirement by this machine, or end that."""
        held = await self._facts.required(fact_id)
        await self._side.pin(held.fact.id, pinned=pinned)
        again = await self._facts.required(fact_id)
        return again.fact

    async def delete_fact(self, fact_id: str) -> bool:
        """Really delete a fact of ours, or one that is the whole of its document.

        Raises:
            BankError: It is one of several that the server found in a document.
        """
        held = await self._facts.find(fact_id)
        if held is None:
            return False
        if held.own:
            await self._verbatim.remove(held.fact.id)
        else:
            await self._delete_alone(held.fact)
        await self._side.forget(identity_of(held.fact.text))
        return True

    async def list_documents(self, *, limit: int = 50, offset: int = 0) -> DocumentPage:
        """Documents, newest first."""
        return await self._documents.listing(limit=limit, offset=offset)

    async def get_document(self, document_id: str) -> Document | None:
        """One document with its facts."""
        return await self._documents.find(document_id)

    async def delete_document(self, document_id: str) -> bool:
        """Delete a document and the facts that only it holds."""
        return await self._documents.delete(document_id)

    async def import_facts(self, facts: Iterable[Fact]) -> int:
        """Bulk upsert by id, word for word; run again after an interruption it goes on."""
        await self._ready()
        return await import_facts(self._verbatim, facts)

    async def export_facts(self) -> AsyncIterator[Fact]:
        """Every fact in every state, oldest first."""
        async for held in self._facts.everything():
            yield held.fact

    async def mental_model(self, model_id: str) -> str | None:
        """Content of a mental model; None while there is none (pi/H-12)."""
        return await content_of(self.api, model_id)

    async def mental_models(self) -> tuple[MentalModel, ...]:
        """Mental models that have been written."""
        return await all_models(self.api)

    async def close(self) -> None:
        """Release connections and the side table."""
        await self.api.client.close()
        await self._side.close()

    async def _ready(self) -> None:
        """The first write makes sure of the bank."""
        async with self._ensuring:
            if not self._ensured:
                await self.ensure()

    async def _own_page(
        self, document_id: str, state: FactState | None, limit: int, offset: int, search: str | None
    ) -> FactPage:
        document = await self._documents.find(document_id)
        wanted = (search or "").lower()
        found = [
            fact
            for fact in (document.facts or () if document else ())
            if state in (None, fact.state) and wanted in fact.text.lower()
        ]
        return FactPage(tuple(found[offset : offset + limit]), len(found))

    async def _delete_alone(self, fact: Fact) -> None:
        where = fact.document_id
        told: dict[str, Any] = await self.api.document(where) if where else {}
        if not where or where.startswith(OWN) or int(told.get("memory_unit_count") or 0) != 1:
            raise BankError(
                f"the server deletes no single fact of a document: retire {fact.id} with `facts "
                f"invalidate`, or delete the document {where} with all its facts",
                retryable=False,
            )
        await self.api.delete_document(where)


def _based_on(answer: dict[str, Any]) -> list[str]:
    based = answer.get("based_on")
    memories = based.get("memories") if isinstance(based, dict) else None
    found = memories if isinstance(memories, list) else []
    ids = [item.get("id") for item in found if isinstance(item, dict)]
    return [one for one in ids if isinstance(one, str)]
