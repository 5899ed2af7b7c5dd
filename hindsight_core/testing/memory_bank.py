"""A whole bank in memory, for tests: every rule of a bank, the simplest possible search."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import replace

from hindsight_core.banks.base import Capabilities
from hindsight_core.errors import BankError
from hindsight_core.identity import fact_id as identity_of
from hindsight_core.memory import (
    BankStats,
    Document,
    DocumentPage,
    Fact,
    FactPage,
    FactState,
    Hit,
    Query,
    Receipt,
    Scope,
)
from hindsight_core.services import Clock, utc_now
from hindsight_core.testing.tag_match import tags_match

_WORD = re.compile(r"\w+")


class FakeBank:
    """A `Bank` in memory.

    Attributes:
        failing: Set it to an error, and every call raises it.
        calls: Names of the calls made, in order.
    """

    backend = "memory"

    def __init__(
        self,
        bank_id: str = "fake",
        *,
        clock: Clock = utc_now,
        capabilities: Capabilities | None = None,
    ) -> None:
        self.id = bank_id
        self.capabilities = capabilities or Capabilities()
        self.failing: BankError | None = None
        self.calls: list[str] = []
        self.facts: dict[str, Fact] = {}
        self.documents: dict[str, Document] = {}
        self.members: dict[str, list[str]] = {}
        self._forgotten: set[str] = set()
        self._clock = clock

    async def ensure(self) -> None:
        """Nothing to create."""
        self._call("ensure")

    async def retain(self, document: Document) -> Receipt:
        """Store a document, replacing the one of the same id."""
        self._call("retain")
        before = self.members.get(document.id, [])
        changed = document.id not in self.documents and not document.facts
        ids: list[str] = []
        for fact in document.facts or ():
            held = self._place(document, fact, before)
            if held is not None:
                ids += [held[0]] if held[0] not in ids else []
                changed |= held[1]
        if document.facts is not None:
            for gone in [i for i in before if i not in ids]:
                changed = True
                self._drop(gone, document.id, keep_invalidated=True)
            self.members[document.id] = ids
        self.documents[document.id] = document
        for new, old in document.supersedes:
            found = self.facts.get(old)
            if found and new != old and not found.pinned and found.state == "valid":
                self.facts[old] = replace(found, state="superseded", superseded_by=new)
                changed = True
        live = tuple(i for i in ids if self.facts[i].state in ("valid", "pending"))
        return Receipt("stored" if changed else "known", document.id, live)

    async def recall(self, query: Query) -> list[Hit]:
        """Valid facts by the share of the query's words that they hold."""
        self._call("recall")
        asked = set(_WORD.findall(query.text.lower()))
        hits = []
        for fact in self.facts.values():
            if fact.state != "valid" or not self._in_scope(fact, query.scope):
                continue
            found = asked & set(_WORD.findall(fact.text.lower()))
            score = len(found) / (len(asked) or 1)
            if found and score >= (query.min_score or 0.0):
                hits.append(Hit(fact=fact, bank=self.id, score=score, parts={"words": score}))
        return sorted(hits, key=lambda h: -h.score)[: max(0, query.limit)]

    async def stats(self) -> BankStats:
        """Counts."""
        self._call("stats")
        states: dict[str, int] = {}
        for fact in self.facts.values():
            states[fact.state] = states.get(fact.state, 0) + 1
        return BankStats(len(self.documents), states.get("valid", 0), states)

    async def list_facts(
        self,
        *,
        state: FactState | None = "valid",
        limit: int = 50,
        offset: int = 0,
        search: str | None = None,
        document_id: str | None = None,
    ) -> FactPage:
        """Facts, newest first."""
        self._call("list_facts")
        found = [
            fact
            for fact in reversed(self.facts.values())
            if state in (None, fact.state)
            and (search or "").lower() in fact.text.lower()
            and (document_id is None or fact.id in self.members.get(document_id, ()))
        ]
        found.sort(key=lambda f: f.timestamp or f.created_at or self._clock(), reverse=True)
        return FactPage(tuple(found[offset : offset + limit]), len(found))

    async def get_fact(self, fact_id: str) -> Fact | None:
        """One fact in any state."""
        self._call("get_fact")
        return self.facts.get(fact_id)

    async def edit_fact(
        self, fact_id: str, *, text: str | None = None, tags: Sequence[str] | None = None
    ) -> Fact:
        """Change in place."""
        fact = self._required("edit_fact", fact_id)
        if text is not None and not text.strip():
            raise BankError(f"fact {fact_id} cannot be made empty", retryable=False)
        return self._keep(
            replace(
                fact,
                text=fact.text if text is None else text,
                tags=fact.tags if tags is None else tuple(tags),
            )
        )

    async def set_state(
        self,
        fact_id: str,
        state: FactState,
        *,
        reason: str | None = None,
        superseded_by: str | None = None,
    ) -> Fact:
        """Retire or restore."""
        fact = self._required("set_state", fact_id)
        if fact.pinned and state in ("superseded", "invalidated"):
            raise BankError(f"fact {fact_id} is pinned; unpin it first", retryable=False)
        by = superseded_by if state == "superseded" else None
        return self._keep(
            replace(
                fact, state=state, reason=reason if state != "valid" else None, superseded_by=by
            )
        )

    async def pin_fact(self, fact_id: str, *, pinned: bool) -> Fact:
        """Set or clear the pin."""
        return self._keep(replace(self._required("pin_fact", fact_id), pinned=pinned))

    async def delete_fact(self, fact_id: str) -> bool:
        """Really delete."""
        self._call("delete_fact")
        fact = self.facts.pop(fact_id, None)
        if fact is None:
            return False
        self._forgotten.add(identity_of(fact.text))
        for ids in self.members.values():
            if fact_id in ids:
                ids.remove(fact_id)
        return True

    async def list_documents(self, *, limit: int = 50, offset: int = 0) -> DocumentPage:
        """Documents, newest first."""
        self._call("list_documents")
        found = [self._document(i) for i in reversed(self.documents)]
        return DocumentPage(tuple(found[offset : offset + limit]), len(found))

    async def get_document(self, document_id: str) -> Document | None:
        """One document with its facts."""
        self._call("get_document")
        return self._document(document_id) if document_id in self.documents else None

    async def delete_document(self, document_id: str) -> bool:
        """Delete a document and the facts that only it holds."""
        self._call("delete_document")
        for fact_id in self.members.pop(document_id, []):
            self._drop(fact_id, document_id, keep_invalidated=False)
        return self.documents.pop(document_id, None) is not None

    async def import_facts(self, facts: Iterable[Fact]) -> int:
        """Upsert by id."""
        self._call("import_facts")
        changed = 0
        for fact in facts:
            held = self.facts.get(fact.id)
            stored = fact.created_at or (held.created_at if held else self._clock())
            whole = replace(fact, created_at=stored)
            changed += held != whole
            self.facts[fact.id] = whole
            self._forgotten.discard(identity_of(fact.text))
            if fact.document_id is not None:
                self.documents.setdefault(fact.document_id, Document(fact.document_id, ""))
                ids = self.members.setdefault(fact.document_id, [])
                ids += [fact.id] if fact.id not in ids else []
        return changed

    async def export_facts(self) -> AsyncIterator[Fact]:
        """Every fact in every state."""
        self._call("export_facts")
        for fact in tuple(self.facts.values()):
            yield fact

    async def close(self) -> None:
        """Nothing to release."""

    def _call(self, name: str) -> None:
        self.calls.append(name)
        if self.failing is not None:
            raise self.failing

    def _required(self, call: str, fact_id: str) -> Fact:
        self._call(call)
        if fact_id not in self.facts:
            raise BankError(f"no fact {fact_id} in this bank", retryable=False)
        return self.facts[fact_id]

    def _keep(self, fact: Fact) -> Fact:
        self.facts[fact.id] = fact
        return fact

    def _document(self, document_id: str) -> Document:
        facts = tuple(self.facts[i] for i in self.members.get(document_id, ()))
        return replace(self.documents[document_id], facts=facts)

    def _place(
        self, document: Document, fact: Fact, before: Sequence[str]
    ) -> tuple[str, bool] | None:
        content = identity_of(fact.text)
        same = [f for f in self.facts.values() if identity_of(f.text) == content]
        held = next(iter(same), None) or self.facts.get(fact.id)
        if held is None:
            if content in self._forgotten and not document.explicit:
                return None
            new = replace(
                fact,
                document_id=document.id,
                created_at=fact.created_at or self._clock(),
                timestamp=fact.timestamp or document.timestamp,
                tags=fact.tags or document.tags,
            )
            return self._keep(new).id, True
        restated = held.state == "superseded" and held.id not in before
        if held.state == "valid" or not (document.explicit or restated):
            return held.id, False
        self._keep(replace(held, state="valid", superseded_by=None, reason=None))
        return held.id, True

    def _drop(self, fact_id: str, document_id: str, *, keep_invalidated: bool) -> None:
        fact = self.facts.get(fact_id)
        shared = any(fact_id in ids for d, ids in self.members.items() if d != document_id)
        kept = keep_invalidated and fact and (fact.pinned or fact.state == "invalidated")
        if fact and not shared and not kept:
            del self.facts[fact_id]

    def _in_scope(self, fact: Fact, scope: Scope) -> bool:
        said = fact.timestamp or fact.created_at or self._clock()
        return (
            (not scope.kinds or fact.kind in scope.kinds)
            and (scope.tags is None or tags_match(scope.tags, fact.tags))
            and (scope.since is None or said >= scope.since)
            and (scope.until is None or said < scope.until)
            and (scope.file is None or scope.file.lower() in fact.text.lower())
            and (scope.session_id in (None, fact.provenance.session_id))
            and (scope.document_id is None or fact.id in self.members.get(scope.document_id, ()))
        )
