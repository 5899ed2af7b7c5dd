"""What one operation is going to write, collected before anything is written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from hindsight_core.memory import Document, Fact


@dataclass
class Change:
    """Writes of one operation.

    Attributes:
        facts: To store, by id.
        embed: Ids of those whose text is new.
        seen: Facts that the store holds and the side table may not know.
        gone: Ids to delete.
        documents: Documents to store, each with the ids of its facts.
        gone_documents: Ids of documents to delete.
        forget: Identities of sentences that are not wanted any more.
        allow: Identities that may come back.
        stored: When a document was first stored, in microseconds since 1970, where that is not now.
    """

    facts: dict[str, Fact] = field(default_factory=dict)
    embed: set[str] = field(default_factory=set)
    seen: dict[str, Fact] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    documents: dict[str, tuple[Document, list[str]]] = field(default_factory=dict)
    gone_documents: set[str] = field(default_factory=set)
    forget: set[str] = field(default_factory=set)
    allow: set[str] = field(default_factory=set)
    stored: dict[str, int] = field(default_factory=dict)

    def put(self, fact: Fact, *, embed: bool = False) -> Fact:
        """Store a fact; ``embed`` when its text is new."""
        self.gone.discard(fact.id)
        self.facts[fact.id] = fact
        if embed:
            self.embed.add(fact.id)
        return fact

    def drop(self, fact_ids: Iterable[str]) -> None:
        """Delete facts."""
        for fact_id in fact_ids:
            self.facts.pop(fact_id, None)
            self.seen.pop(fact_id, None)
            self.gone.add(fact_id)

    @property
    def writes(self) -> bool:
        """Whether the store itself changes."""
        return bool(
            self.facts
            or self.gone
            or self.documents
            or self.gone_documents
            or self.forget
            or self.allow
        )
