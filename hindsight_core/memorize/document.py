"""Builds the document of a window or a note from resolved facts (pi/M-18)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hindsight_core.memory import Document

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from hindsight_core.banks.base import Bank
    from hindsight_core.hookspecs import Resolution
    from hindsight_core.memory import Fact

FALLBACK = "facts"


def build(
    bank: Bank,
    resolutions: Sequence[Resolution],
    *,
    document_id: str,
    headings: Mapping[str, str],
    tags: Sequence[str],
    metadata: Mapping[str, str],
    context: str,
    timestamp: datetime | None,
    explicit: bool = False,
    text: str | None = None,
    earlier: Document | None = None,
    verbatim: bool = False,
) -> Document:
    """The document to write; a bank that extracts gets the text and no facts of ours.

    Args:
        bank: Where it goes.
        resolutions: What to do with each candidate.
        document_id: Its identity.
        headings: Category key to heading.
        tags: Of the document and its facts.
        metadata: Of the document and its facts.
        context: Who speaks in it.
        timestamp: When it was said.
        explicit: Asked for by a person or the agent.
        text: Instead of bullets of the facts.
        earlier: The document of this id that the bank holds: writing replaces it, so that what
            still holds of it is carried over.
        verbatim: A bank that extracts gets our facts all the same.
    """
    new = tuple(
        replace(
            fact,
            document_id=document_id,
            tags=tuple(dict.fromkeys([*tags, *fact.tags])),
            metadata={**metadata, **fact.metadata},
        )
        for fact in _kept(resolutions)
    )
    pairs = tuple((r.fact.id, r.target) for r in resolutions if r.action == "replace" and r.target)
    gone = {old for _, old in pairs} | {fact.id for fact in new}
    old = tuple(f for f in (earlier.facts or () if earlier else ()) if f.id not in gone)
    written = text or bullets(new, headings)
    if earlier and earlier.text.strip() and text is None:
        written = bullets((*old, *new), headings) if old else f"{earlier.text}\n\n{written}"
    return Document(
        id=document_id,
        text=written,
        facts=None if bank.capabilities.extracts and not verbatim else (*old, *new),
        supersedes=pairs,
        context=context,
        tags=tuple(tags),
        metadata=dict(metadata),
        timestamp=timestamp,
        explicit=explicit,
    )


def bullets(facts: Sequence[Fact], headings: Mapping[str, str]) -> str:
    """Facts as bullets under their category's heading (pi/K-06)."""
    groups: dict[str, list[str]] = {}
    for fact in facts:
        if fact.state in ("valid", "pending"):
            heading = headings.get(fact.category or FALLBACK, headings[FALLBACK])
            groups.setdefault(heading, []).append(f"- {fact.text}")
    return "\n\n".join("\n".join([f"# {name}", *lines]) for name, lines in groups.items())


def _kept(resolutions: Sequence[Resolution]) -> tuple[Fact, ...]:
    """The facts to store, each once, in order."""
    return tuple({r.fact.id: r.fact for r in resolutions if r.action != "skip"}.values())
