"""The one transaction that stores a document: replace, deduplicate, supersede."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, replace

from hindsight_core.banks.sqlite import documents, facts, index, supersede
from hindsight_core.banks.sqlite.rows import content_of, from_micros
from hindsight_core.memory import Document, Fact


@dataclass(frozen=True, slots=True)
class Stored:
    """What a write did: ids valid in the bank for the document, and whether anything changed."""

    fact_ids: tuple[str, ...]
    changed: bool
    rows: tuple[int, ...]


def store(connection: sqlite3.Connection, document: Document, *, now: int) -> Stored:
    """Write a document and its facts, replacing the document of the same id."""
    before = documents.member_rows(connection, document.id)
    old = documents.find(connection, document.id)
    documents.put(connection, document, now=now)
    changed = old is None and not document.facts
    if old is not None and document.facts is None:
        changed |= (old.text, old.context) != (document.text, document.context)
    rows: list[int] = []
    text = document.text
    real_ids: dict[str, str] = {}
    for fact in document.facts or ():
        placed = _place(connection, document, fact, before=before, now=now)
        if placed is None:
            text = documents.reworded(text, fact.text, None)
            continue
        held, is_change = placed
        if content_of(held.fact.text) != content_of(fact.text):
            text = documents.reworded(text, fact.text, held.fact.text)
        real_ids[fact.id] = held.fact.id
        changed |= is_change
        if held.row not in rows:
            documents.join(connection, document.id, held.row, position=len(rows))
            rows.append(held.row)
    if document.facts is not None:
        changed |= _drop(connection, document.id, [row for row in before if row not in rows])
    if text != document.text:
        documents.set_text(connection, document.id, text)
    # Those that left the document still hold its other facts' words as neighbours.
    index.refresh(connection, {*rows, *before})
    pairs = [(real_ids.get(new, new), real_ids.get(old, old)) for new, old in document.supersedes]
    changed |= supersede.retire(connection, pairs) > 0
    return Stored(fact_ids=_valid_ids(connection, rows), changed=changed, rows=tuple(rows))


def _place(
    connection: sqlite3.Connection, document: Document, fact: Fact, *, before: list[int], now: int
) -> tuple[facts.Held, bool] | None:
    """The stored fact for this sentence, and whether it is new or changed; None if forgotten."""
    content = content_of(fact.text)
    held = facts.find_sentence(connection, fact.text) or facts.find(connection, fact.id)
    if held is None:
        if _forgotten(connection, content, explicit=document.explicit):
            return None
        new = replace(
            fact,
            document_id=document.id,
            timestamp=fact.timestamp or document.timestamp,
            created_at=fact.created_at or from_micros(now),
            tags=fact.tags or document.tags,
        )
        return facts.Held(facts.insert(connection, new, now=now), new), True
    edited = content_of(held.fact.text) != content
    revived = supersede.revives(
        connection, held.fact, fact, explicit=document.explicit, repeated=held.row in before
    )
    if not (revived or (edited and document.explicit)):
        return held, False
    fresh = replace(
        held.fact,
        # A person's correction of the text outlives a replay, but not a new statement of theirs.
        text=fact.text if edited and document.explicit else held.fact.text,
        state="valid",
        superseded_by=None,
        reason=None,
        timestamp=fact.timestamp or document.timestamp or held.fact.timestamp,
    )
    facts.update(connection, held.row, fresh, now=now)
    return facts.Held(held.row, fresh), True


def _drop(connection: sqlite3.Connection, document_id: str, rows: list[int]) -> bool:
    """Facts that the new version of a document no longer says: gone, unless kept for a reason.

    A pinned fact is kept, and an invalidated one, so that it cannot come back unnoticed.
    """
    gone = []
    for row in rows:
        alone = documents.leave(connection, document_id, row)
        state, pinned = connection.execute(
            "SELECT state, pinned FROM facts WHERE row = ?", (row,)
        ).fetchone()
        if alone and not pinned and state != "invalidated":
            gone.append(row)
    facts.delete(connection, gone)
    return bool(rows)


def _forgotten(connection: sqlite3.Connection, content: str, *, explicit: bool) -> bool:
    if explicit:
        connection.execute("DELETE FROM forgotten WHERE content = ?", (content,))
        return False
    found = connection.execute("SELECT 1 FROM forgotten WHERE content = ?", (content,)).fetchone()
    return found is not None


def _valid_ids(connection: sqlite3.Connection, rows: list[int]) -> tuple[str, ...]:
    found = []
    for row in rows:
        fact_id, state = connection.execute(
            "SELECT id, state FROM facts WHERE row = ?", (row,)
        ).fetchone()
        if state in ("valid", "pending"):
            found.append(fact_id)
    return tuple(found)
