"""Bulk import of facts, checked against what the bank holds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from hindsight_core.identity import fact_id as identity_of

if TYPE_CHECKING:
    from hindsight_core.banks.hindsight.facts import Held
    from hindsight_core.banks.hindsight.verbatim import Verbatim
    from hindsight_core.memory import Fact

BATCH = 200


async def import_facts(verbatim: Verbatim, facts: Iterable[Fact]) -> int:
    """Upsert facts by id, a batch at a time; how many were new or changed.

    Interrupted and run again it goes on: what is there already is not written again.
    """
    held = {item.fact.id: item async for item in verbatim.facts.everything()}
    changed = 0
    pending: dict[str, Fact] = {}
    for fact in facts:
        known = held.get(fact.id)
        if known is not None and _same(known.fact, fact):
            continue
        changed += 1
        if known is not None and not known.own:
            await _change(verbatim, known, fact)
            continue
        if known is not None:
            await verbatim.remove(fact.id)
        pending[fact.id] = fact
        if len(pending) >= BATCH:
            await _flush(verbatim, pending)
    await _flush(verbatim, pending)
    return changed


async def _flush(verbatim: Verbatim, pending: dict[str, Fact]) -> None:
    await verbatim.write(list(pending.values()))
    await verbatim.side.join(
        (fact.document_id, fact.id) for fact in pending.values() if fact.document_id
    )
    pending.clear()


def _same(held: Fact, fact: Fact) -> bool:
    return held == replace(fact, created_at=fact.created_at or held.created_at)


async def _change(verbatim: Verbatim, known: Held, fact: Fact) -> None:
    """A fact that the server extracted: its text, state and pin can be ours."""
    facts = verbatim.facts
    if fact.text != known.fact.text:
        await facts.edit(fact.id, text=fact.text, tags=None)
    if fact.state != known.fact.state:
        await facts.set_state(
            fact.id, fact.state, reason=fact.reason, superseded_by=fact.superseded_by
        )
    if fact.pinned != known.fact.pinned:
        await verbatim.side.pin(fact.id, pinned=fact.pinned)
    await verbatim.side.allow(identity_of(fact.text))
