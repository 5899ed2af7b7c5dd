"""What a copy of a vector bank takes besides its facts: documents, deleted sentences."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from hindsight_core.banks.vector.bodies import document_from, micros, stored_in
from hindsight_core.memory import Document, DocumentCopy

if TYPE_CHECKING:
    from hindsight_core.banks.vector.change import Change
    from hindsight_core.banks.vector.ledger import Ledger

PAGE = 200
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


async def documents(ledger: Ledger) -> AsyncIterator[DocumentCopy]:
    """Every document, in order of storage."""
    last = 0
    while True:
        rows = await ledger.side.rows(
            "SELECT seq, id, body FROM documents WHERE seq > ? ORDER BY seq LIMIT ?", last, PAGE
        )
        if not rows:
            return
        for last, document_id, body in rows:  # noqa: B007 (the last one is where to go on)
            yield _copy(document_id, body, await ledger.side.members(document_id))


async def load(ledger: Ledger, copies: Sequence[DocumentCopy], change: Change) -> int:
    """Collect one batch; how many are new or changed."""
    changed = 0
    here = await ledger.facts(i for copy in copies for i in copy.fact_ids)
    for copy in copies:
        document = copy.document
        before = await ledger.side.members(document.id)
        wanted = [fact_id for fact_id in copy.fact_ids if fact_id in here]
        members = list(dict.fromkeys((*wanted, *before)))
        held = await _held(ledger, document.id)
        same = held is not None and held.document == document and members == before
        if same and (copy.created_at is None or held is None or held.created_at == copy.created_at):
            continue
        changed += 1
        change.documents[document.id] = (document, members)
        stored = copy.created_at or (held.created_at if held else None)
        if stored is not None:
            change.stored[document.id] = micros(stored)
    return changed


async def forgotten(ledger: Ledger) -> frozenset[str]:
    """Identities of the sentences that were deleted for good."""
    rows = await ledger.side.rows("SELECT content FROM forgotten")
    return frozenset(row[0] for row in rows)


async def _held(ledger: Ledger, document_id: str) -> DocumentCopy | None:
    rows = await ledger.side.rows("SELECT body FROM documents WHERE id = ?", document_id)
    return _copy(document_id, rows[0][0], ()) if rows else None


def _copy(document_id: str, body: str, members: Sequence[str]) -> DocumentCopy:
    stored = stored_in(body)
    bare: Document = replace(document_from(document_id, body, ()), facts=None)
    created = _EPOCH + timedelta(microseconds=stored) if stored else None
    return DocumentCopy(bare, tuple(members), created)
