"""The simplest vector store, for tests: a `VectorBank` in memory and nothing more."""

from __future__ import annotations

from collections.abc import Sequence

from hindsight_core.memory import Fact, Hit, Query, Scope
from hindsight_core.testing.tag_match import tags_match


class MemoryVectors:
    """Implements `hindsight_core.banks.base.VectorBank`.

    Attributes:
        facts: By id, each with its vector.
    """

    def __init__(self, bank_id: str = "vectors") -> None:
        self.id = bank_id
        self.facts: dict[str, tuple[Fact, Sequence[float]]] = {}

    async def add(self, facts: Sequence[Fact], vectors: Sequence[Sequence[float]]) -> None:
        """Upsert by id."""
        for fact, vector in zip(facts, vectors, strict=True):
            self.facts[fact.id] = fact, vector

    async def search(self, vector: Sequence[float], query: Query) -> list[Hit]:
        """Every fact that the scope allows, nearest first."""
        hits = [
            Hit(fact, self.id, sum(a * b for a, b in zip(vector, held, strict=True)))
            for fact, held in self.facts.values()
            if fact.state == "valid" and _allows(query.scope, fact)
        ]
        return sorted(hits, key=lambda hit: -hit.score)[: query.limit]

    async def get(self, fact_ids: Sequence[str]) -> list[Fact]:
        """Those that exist."""
        return [self.facts[i][0] for i in fact_ids if i in self.facts]

    async def delete(self, fact_ids: Sequence[str]) -> None:
        """Delete by id."""
        for fact_id in fact_ids:
            self.facts.pop(fact_id, None)


def _allows(scope: Scope, fact: Fact) -> bool:
    said = fact.timestamp or fact.created_at
    return (
        (not scope.kinds or fact.kind in scope.kinds)
        and (scope.tags is None or tags_match(scope.tags, fact.tags))
        and (scope.since is None or (said is not None and said >= scope.since))
        and (scope.until is None or (said is not None and said < scope.until))
        and (scope.file is None or scope.file.lower() in fact.text.lower())
        and scope.session_id in (None, fact.provenance.session_id)
        and scope.document_id in (None, fact.document_id)
    )
