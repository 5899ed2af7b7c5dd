"""The text of a document as a person edits it: one fact a line under its heading."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from hindsight_core.identity import fact_id
from hindsight_core.memorize.categories import headings
from hindsight_core.memorize.document import bullets
from hindsight_core.memory import Fact, Provenance

if TYPE_CHECKING:
    from hindsight_core.config.settings import Settings
    from hindsight_core.memory import Document
    from hindsight_core.transcript.sanitise import Sanitiser

_BULLET = re.compile(r"^\s*[-*\u2022]\s+")
_HEADING = re.compile(r"^\s*#+\s")
_LIVE = ("valid", "pending")


def editable(document: Document) -> str:
    """What an editor shows."""
    if document.text.strip():
        return document.text.strip()
    return "\n".join(f"- {fact.text}" for fact in document.facts or () if fact.state in _LIVE)


def edited(
    document: Document, text: str, *, settings: Settings, sanitiser: Sanitiser
) -> Document | None:
    """The document with another text; None when nothing is left of it.

    A line that was a fact before keeps everything that is known of it, a new line is the person's
    own words, and a line that is gone is no fact of the document any more.
    """
    limit = settings.security.max_fact_characters
    if document.facts is None:
        clean = sanitiser.text(text).strip()
        return replace(document, text=clean, explicit=True) if _says(clean) else None
    held = {fact.text: fact for fact in document.facts}
    pending = any(fact.state == "pending" for fact in document.facts)
    found: dict[str, Fact] = {}
    for line in text.splitlines():
        if _HEADING.match(line):
            continue
        plain = sanitiser.fact_text(_BULLET.sub("", line), limit=limit)
        if not _says(plain):
            continue
        fact = held.get(plain) or _new(plain, document, state="pending" if pending else "valid")
        found.setdefault(fact.id, fact)
    if not found:
        return None
    facts = tuple(found.values())
    return replace(
        document, text=bullets(facts, headings(settings)), facts=facts, explicit=not pending
    )


def _new(text: str, document: Document, *, state: str) -> Fact:
    return Fact(
        id=fact_id(text),
        text=text,
        state=state,  # type: ignore[arg-type]
        document_id=document.id,
        timestamp=document.timestamp,
        tags=document.tags,
        metadata=document.metadata,
        provenance=Provenance(source="user-edit", speaker="user"),
    )


def _says(text: str) -> bool:
    return any(letter.isalnum() for letter in text)
