"""Pages of facts: the side table says which, the store says what they are."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hindsight_core.memory import Fact, FactPage, FactState

if TYPE_CHECKING:
    from hindsight_core.banks.vector.ledger import Ledger

PAGE = 200


@dataclass(frozen=True, slots=True)
class Listing:
    """Which page of which facts."""

    state: FactState | None
    limit: int
    offset: int
    search: str | None
    document_id: str | None


async def page(ledger: Ledger, wanted: Listing) -> FactPage:
    """Facts newest first, and how many match."""
    ids = await _ids(ledger, wanted)
    if wanted.search:
        return await _searched(ledger, ids, wanted)
    chosen = ids[wanted.offset : wanted.offset + wanted.limit]
    found = await ledger.facts(chosen)
    return FactPage(tuple(found[i] for i in chosen if i in found), len(ids))


async def in_order(ledger: Ledger) -> AsyncIterator[Fact]:
    """Every fact in order of storage."""
    last = 0
    while True:
        rows = await ledger.side.rows(
            "SELECT seq, id FROM facts WHERE seq > ? ORDER BY seq LIMIT ?", last, PAGE
        )
        if not rows:
            return
        last = rows[-1][0]
        found = await ledger.facts(fact_id for _, fact_id in rows)
        for _, fact_id in rows:
            if fact_id in found:
                yield found[fact_id]


async def _ids(ledger: Ledger, wanted: Listing) -> list[str]:
    where: list[str] = []
    values: list[str] = []
    if wanted.state is not None:
        where.append("state = ?")
        values.append(wanted.state)
    if wanted.document_id:
        where.append("id IN (SELECT fact_id FROM members WHERE document_id = ?)")
        values.append(wanted.document_id)
    rows = await ledger.side.rows(
        f"SELECT id FROM facts WHERE {' AND '.join(where) or '1'} ORDER BY moment DESC, seq DESC",
        *values,
    )
    return [row[0] for row in rows]


async def _searched(ledger: Ledger, ids: list[str], wanted: Listing) -> FactPage:
    part, kept, total = (wanted.search or "").lower(), list[Fact](), 0
    for start in range(0, len(ids), PAGE):
        some = ids[start : start + PAGE]
        found = await ledger.facts(some)
        for fact in (found[i] for i in some if i in found):
            if part in fact.text.lower():
                if wanted.offset <= total < wanted.offset + wanted.limit:
                    kept.append(fact)
                total += 1
    return FactPage(tuple(kept), total)
