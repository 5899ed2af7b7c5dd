"""Documents: those of the server, and those whose facts are ours (pi/H-08, pi/H-10)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hindsight_core.banks.hindsight.errors import ServerError
from hindsight_core.banks.hindsight.facts import OWN, Facts
from hindsight_core.banks.hindsight.hits import moment
from hindsight_core.memory import Document, DocumentPage

if TYPE_CHECKING:
    from hindsight_core.banks.hindsight.api import Api, Json
    from hindsight_core.banks.hindsight.side import Side
    from hindsight_core.banks.hindsight.verbatim import Verbatim

PAGE = 500
MOST_PAGES = 40


@dataclass(frozen=True, slots=True)
class Documents:
    """Documents of one bank.

    Attributes:
        api: The bank's calls.
        facts: Facts of the bank.
        side: The documents whose facts are ours.
        verbatim: Deletes such facts.
    """

    api: Api
    facts: Facts
    side: Side
    verbatim: Verbatim

    async def find(self, document_id: str) -> Document | None:
        """One document with its facts; None when it is not there."""
        ours = await self.side.document(document_id)
        if ours is not None:
            members = await self.side.members(document_id)
            held = await asyncio.gather(*(self.facts.find(member) for member in members))
            return replace(ours, facts=tuple(item.fact for item in held if item))
        try:
            told = await self.api.document(document_id)
        except ServerError as error:
            if error.no_such_thing:
                return None
            raise
        return replace(_document(told), facts=tuple(await self.facts.of_document(document_id)))

    async def delete(self, document_id: str) -> bool:
        """Delete a document and the facts that only it holds; False when it was not there."""
        if await self.side.document(document_id) is None:
            return await self.api.delete_document(document_id)
        for member in await self.side.members(document_id):
            if not await self.side.elsewhere(member, document_id):
                await self.verbatim.remove(member)
        return await self.side.drop_document(document_id)

    async def listing(self, *, limit: int, offset: int) -> DocumentPage:
        """Documents, newest first: first those of our facts, then those of the server."""
        ours = await self.side.documents()
        ids = [document.id for document in ours]
        ids += [str(item["id"]) async for item in self._theirs()]
        wanted = ids[offset : offset + limit]
        found = await asyncio.gather(*(self.find(document_id) for document_id in wanted))
        return DocumentPage(tuple(document for document in found if document), len(ids))

    async def extracted(self) -> AsyncIterator[Document]:
        """Documents whose facts the server found, without them, oldest first."""
        ids = [str(item["id"]) async for item in self._theirs()]
        for document_id in reversed(ids):
            try:
                yield _document(await self.api.document(document_id))
            except ServerError as error:
                if not error.no_such_thing:
                    raise

    async def _theirs(self) -> Any:  # noqa: ANN401 - an async iterator of JSON
        seen = 0
        for _ in range(MOST_PAGES):
            try:
                page = await self.api.documents(limit=PAGE, offset=seen)
            except ServerError as error:
                if error.no_such_bank:
                    return
                raise
            items = [item for item in page.get("items") or () if isinstance(item, dict)]
            seen += len(items)
            for item in items:
                if not str(item.get("id") or OWN).startswith(OWN):
                    yield item
            if not items or seen >= int(page.get("total") or 0):
                return


def _document(told: Json) -> Document:
    params = told.get("retain_params")
    params = params if isinstance(params, dict) else {}
    metadata = told.get("document_metadata")
    return Document(
        id=str(told.get("id") or ""),
        text=str(told.get("original_text") or ""),
        context=params.get("context"),
        tags=tuple(told.get("tags") or ()),
        metadata=metadata if isinstance(metadata, dict) else {},
        timestamp=moment(params.get("event_date")) or moment(told.get("created_at")),
    )
