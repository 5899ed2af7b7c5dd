"""The rules of storing a document: replace, tell each sentence once, supersede, revive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from hindsight_core.banks.vector.change import Change
from hindsight_core.identity import fact_id as identity_of
from hindsight_core.memory import Document, Fact


@dataclass
class Known:
    """What the bank holds that bears upon a document, read beforehand.

    Attributes:
        facts: By id, kept in step with what the write changes.
        saying: Id of the fact that says a sentence, by the sentence's identity.
        before: Ids of the facts that the document held.
        elsewhere: Facts of the document that another one holds too, with that document.
        forgotten: Identities of sentences that were deleted for good.
        text: The stored text and context of the document; None when it is new.
    """

    facts: dict[str, Fact]
    saying: dict[str, str]
    before: Sequence[str] = ()
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    forgotten: frozenset[str] = frozenset()
    text: tuple[str, str | None] | None = None


@dataclass(frozen=True, slots=True)
class Stored:
    """Ids now valid in the bank for the document, and whether anything changed."""

    fact_ids: tuple[str, ...]
    changed: bool


def plan(document: Document, known: Known, change: Change, *, now: datetime) -> Stored:
    """Collect the writes for one document."""
    changed = known.text is None and not document.facts
    changed |= known.text is not None and known.text != (document.text, document.context)
    ids: list[str] = []
    real: dict[str, str] = {}
    for fact in document.facts or ():
        placed = _place(document, fact, known, change, now=now)
        if placed is not None:
            real[fact.id] = placed[0]
            changed |= placed[1]
            ids += [placed[0]] if placed[0] not in ids else []
    if document.facts is None:
        ids = list(known.before)
    else:
        changed |= _leave(document, ids, known, change)
    if changed or known.text is None or ids != list(known.before):
        change.documents[document.id] = (document, ids)
    for new, old in document.supersedes:
        changed |= _supersede(real.get(new, new), real.get(old, old), known, change)
    live = tuple(i for i in ids if i in known.facts and _is_live(known.facts[i]))
    return Stored(live, changed)


def _place(
    document: Document, fact: Fact, known: Known, change: Change, *, now: datetime
) -> tuple[str, bool] | None:
    """Id of the fact that says it, and whether that is new or changed; None when forgotten."""
    content = identity_of(fact.text)
    held = known.facts.get(known.saying.get(content, "")) or known.facts.get(fact.id)
    if held is None:
        if content in known.forgotten:
            if not document.explicit:
                return None
            change.allow.add(content)
        new = replace(
            fact,
            document_id=document.id,
            timestamp=fact.timestamp or document.timestamp,
            created_at=fact.created_at or now,
            tags=fact.tags or document.tags,
        )
        _keep(new, known, change, embed=True)
        return new.id, True
    change.seen.setdefault(held.id, held)
    edited = identity_of(held.text) != content
    if not (_revives(document, fact, held, known) or (edited and document.explicit)):
        return held.id, False
    fresh = replace(
        held,
        # A person's correction outlives a replay, but not a new statement of theirs.
        text=fact.text if edited and document.explicit else held.text,
        state="valid",
        superseded_by=None,
        reason=None,
        timestamp=fact.timestamp or document.timestamp or held.timestamp,
    )
    _keep(fresh, known, change, embed=fresh.text != held.text)
    return fresh.id, True


def _revives(document: Document, said: Fact, held: Fact, known: Known) -> bool:
    """Whether saying a retired sentence again makes it valid.

    An invalidated one comes back only when a person asks; a superseded one also when it is said
    anew, not before what replaced it.
    """
    if held.state == "valid":
        return False
    if document.explicit:
        return True
    repeated = held.id in known.before
    if held.state == "pending":
        return said.state == "valid" and not repeated
    if held.state == "invalidated" or repeated:
        return False
    successor = known.facts.get(held.superseded_by or "")
    mine, theirs = said.timestamp, successor.timestamp if successor else None
    return mine is None or theirs is None or mine >= theirs


def _leave(document: Document, ids: Sequence[str], known: Known, change: Change) -> bool:
    """Facts that the new version no longer says: gone, unless kept for a reason."""
    left = [i for i in known.before if i not in ids]
    leave(left, document.id, known, change, keep=True)
    return bool(left)


def leave(
    fact_ids: Sequence[str], document_id: str, known: Known, change: Change, *, keep: bool
) -> None:
    """Take facts out of a document; those that no other one holds are deleted.

    Args:
        fact_ids: Which.
        document_id: Out of which document.
        known: What the bank holds of them.
        change: Where the writes are collected.
        keep: Leave pinned and invalidated facts, so that the latter cannot come back unnoticed.
    """
    for fact_id in fact_ids:
        fact = known.facts.get(fact_id)
        other = known.elsewhere.get(fact_id)
        if fact is None:
            continue
        if other is not None:
            if fact.document_id == document_id:
                _keep(replace(fact, document_id=other), known, change)
        elif not (keep and (fact.pinned or fact.state == "invalidated")):
            known.facts.pop(fact_id)
            change.drop([fact_id])


def _supersede(new: str, old: str, known: Known, change: Change) -> bool:
    held = known.facts.get(old)
    if held is None or new == old or held.pinned or held.state != "valid":
        return False
    _keep(replace(held, state="superseded", superseded_by=new), known, change)
    return True


def _keep(fact: Fact, known: Known, change: Change, *, embed: bool = False) -> None:
    known.facts[fact.id] = change.put(fact, embed=embed)
    known.saying[identity_of(fact.text)] = fact.id


def _is_live(fact: Fact) -> bool:
    return fact.state in ("valid", "pending")
