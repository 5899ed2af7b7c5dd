"""Documents of a vector bank: read, deleted, and facts that come in bulk."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hindsight_core.banks.vector.bodies import document_from
from hindsight_core.banks.vector.retain import Known, leave
from hindsight_core.identity import fact_id as identity_of
from hindsight_core.memory import Document, DocumentPage, Fact

if TYPE_CHECKING:
    from hindsight_core.banks.vector.change import Change
    from hindsight_core.banks.vector.ledger import Ledger


async def known(ledger: Ledger, document: Document) -> Known:
    """All that bears upon storing a document, in few requests."""
    side, told = ledger.side, document.facts or ()
    contents = [identity_of(fact.text) for fact in told]
    saying, before = await side.saying(contents), await side.members(document.id)
    old = [pair[1] for pair in document.supersedes]
    facts = await ledger.facts([*saying.values(), *(f.id for f in told), *before, *old])
    facts |= await ledger.facts(
        f.superseded_by for f in facts.values() if f.superseded_by and f.superseded_by not in facts
    )
    body = await _body(ledger, document.id)
    data = None if body is None else json.loads(body)
    return Known(
        facts=facts,
        saying=saying,
        before=before,
        elsewhere=await side.elsewhere(before, document.id),
        forgotten=frozenset(await side.forgotten(contents)),
        text=None if data is None else (data.get("text", ""), data.get("context")),
    )


async def find(ledger: Ledger, document_id: str) -> Document | None:
    """One document with its facts in order."""
    body = await _body(ledger, document_id)
    if body is None:
        return None
    ids = await ledger.side.members(document_id)
    facts = await ledger.facts(ids)
    return document_from(document_id, body, [facts[i] for i in ids if i in facts])


async def listing(ledger: Ledger, *, limit: int, offset: int) -> DocumentPage:
    """Documents with their facts, newest first."""
    rows = await ledger.side.rows(
        "SELECT id, body FROM documents ORDER BY moment DESC, seq DESC LIMIT ? OFFSET ?",
        limit,
        offset,
    )
    members = {row[0]: await ledger.side.members(row[0]) for row in rows}
    facts = await ledger.facts(i for ids in members.values() for i in ids)
    found = tuple(
        document_from(key, body, [facts[i] for i in members[key] if i in facts])
        for key, body in rows
    )
    return DocumentPage(found, (await ledger.side.counts()).get("documents", 0))


async def delete(ledger: Ledger, document_id: str, change: Change) -> bool:
    """Collect the deletion of a document and of the facts that only it holds."""
    if await _body(ledger, document_id) is None:
        return False
    ids = await ledger.side.members(document_id)
    held = Known(
        facts=await ledger.facts(ids),
        saying={},
        elsewhere=await ledger.side.elsewhere(ids, document_id),
    )
    leave(ids, document_id, held, change, keep=False)
    change.gone_documents.add(document_id)
    return True


async def load(ledger: Ledger, batch: Sequence[Fact], change: Change) -> int:
    """Collect one batch of an import; how many facts are new or changed."""
    held = await ledger.facts(fact.id for fact in batch)
    now, done = ledger.clock(), 0
    homes: dict[str, list[str]] = {}
    for fact in {fact.id: fact for fact in batch}.values():
        old = held.get(fact.id)
        if fact.document_id is not None:
            homes.setdefault(fact.document_id, []).append(fact.id)
        stored = fact.created_at or (old.created_at if old else now)
        whole = replace(fact, created_at=stored)
        if old == whole:
            change.seen[fact.id] = whole
            continue
        change.put(whole, embed=old is None or old.text != whole.text)
        done += 1
    for document_id, ids in homes.items():
        await _join(ledger, document_id, ids, change)
    contents = [identity_of(fact.text) for fact in batch]
    # What a person imports is no longer forgotten.
    change.allow |= await ledger.side.forgotten(contents)
    return done


async def _join(ledger: Ledger, document_id: str, ids: Sequence[str], change: Change) -> None:
    body = await _body(ledger, document_id)
    before = await ledger.side.members(document_id)
    members = list(dict.fromkeys((*before, *ids)))
    if body is None:
        change.documents[document_id] = (Document(document_id, ""), members)
    elif members != before:
        bare = replace(document_from(document_id, body, ()), facts=None)
        change.documents[document_id] = (bare, members)


async def _body(ledger: Ledger, document_id: str) -> str | None:
    rows = await ledger.side.rows("SELECT body FROM documents WHERE id = ?", document_id)
    return rows[0][0] if rows else None
