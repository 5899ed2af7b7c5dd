"""What a copy of a bank on a server takes besides its facts: documents, deleted sentences."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from hindsight_core.memory import DocumentCopy

if TYPE_CHECKING:
    from hindsight_core.banks.hindsight.documents import Documents
    from hindsight_core.banks.hindsight.side import Side


class Copying:
    """The part of `HindsightBank` that makes it a `CopyingBank`.

    Documents of our own facts are in the side table, where a copy of any bank's go; those that
    the server extracted facts from are read from the server, and never sent to it again.
    """

    _side: Side
    _documents: Documents

    async def export_documents(self) -> AsyncIterator[DocumentCopy]:
        """Every document: first those of our facts, oldest first, then those of the server."""
        for document in reversed(await self._side.documents()):
            yield DocumentCopy(document, tuple(await self._side.members(document.id)))
        async for document in self._documents.extracted():
            yield DocumentCopy(replace(document, facts=None))

    async def import_documents(self, copies: Iterable[DocumentCopy]) -> int:
        """Bulk upsert by id, into the side table; how many were new or changed."""
        changed = 0
        for copy in copies:
            document = copy.document
            held = await self._side.document(document.id)
            before = await self._side.members(document.id)
            members = list(dict.fromkeys((*copy.fact_ids, *before)))
            if held != document or members != before:
                await self._side.put(document, members)
                changed += 1
        return changed

    async def forgotten(self) -> frozenset[str]:
        """Identities of the sentences that were deleted for good."""
        return await self._side.forgotten()

    async def forget(self, contents: Iterable[str]) -> int:
        """Let no automatic write bring these sentences back."""
        new = set(contents) - await self._side.forgotten()
        for content in sorted(new):
            await self._side.forget(content)
        return len(new)
