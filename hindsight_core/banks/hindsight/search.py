"""Recall: the request for a query, and its answer as hits (pi/H-06)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hindsight_core.banks.hindsight.errors import ServerError
from hindsight_core.banks.hindsight.facts import OWN
from hindsight_core.banks.hindsight.hits import TYPES, Found, fact_of, found_in
from hindsight_core.banks.hindsight.tags import allows, tag_fields
from hindsight_core.memory import Hit

if TYPE_CHECKING:
    from hindsight_core.banks.hindsight.api import Api
    from hindsight_core.config.settings.recall import Recall
    from hindsight_core.memory import Fact, Query, Scope

QUERY_TOKENS = 500
_PARTS = ("final", "reranker", "semantic", "keyword")
NARROWED = 4
"""A search that is narrowed here asks for so many times more text."""


@dataclass(frozen=True, slots=True)
class Searcher:
    """Searches one bank.

    Attributes:
        api: The bank's calls.
        bank_id: For the hits.
        settings: What every recall asks for.
    """

    api: Api
    bank_id: str
    settings: Recall

    async def search(self, query: Query) -> list[Hit]:
        """Hits that the scope allows, best first; a bank that is not there yet has none.

        Raises:
            BankError: The search failed, which is not the same as finding nothing (br/BR-35).
        """
        body = recall_body(query, self.settings)
        if body is None:
            return []
        try:
            answer = await self._ask(body)
        except ServerError as error:
            if error.no_such_bank:
                return []
            raise
        found = await self._completed(found_in(answer), query.scope)
        hits = [hit for hit in self._hits(found) if in_scope(hit.fact, query.scope)]
        if "source_facts" in body["include"]:
            hits = with_evidence(hits, answer)
        floor = query.min_score or 0.0
        return [hit for hit in hits if hit.score >= floor][: query.limit]

    async def _ask(self, body: dict[str, Any]) -> Any:  # noqa: ANN401 - whatever shape it has
        try:
            return await self.api.recall(body)
        except ServerError as error:
            if error.status != 400 or "token" not in error.detail.lower():
                raise
        # Our estimate of its tokens was too low for this text.
        return await self.api.recall({**body, "query": cut(body["query"], QUERY_TOKENS // 3)})

    async def _completed(self, found: list[Found], scope: Scope) -> list[Found]:
        """Hits that the server reached over links come without metadata: they are looked up."""
        bare = [item for item in found if item.id and _bare(item, scope)]
        told = await asyncio.gather(*(self.api.fact(item.id or "") for item in bare))
        whole = {
            item.id: replace(item, raw={**item.raw, "metadata": more.get("metadata")})
            for item, more in zip(bare, told, strict=True)
        }
        return [whole.get(item.id, item) for item in found]

    def _hits(self, found: list[Found]) -> list[Hit]:
        finals = [_number(_scores(item).get("final")) for item in found]
        top = max([1.0, *(final for final in finals if final is not None)])
        hits = []
        for rank, (item, final) in enumerate(zip(found, finals, strict=True)):
            by_rank = 1.0 - rank / (len(found) + 1)
            score = by_rank if final is None else max(final / top, 1e-6)
            named = {key: _number(value) for key, value in _scores(item).items()}
            parts = {key: value for key, value in named.items() if value is not None}
            hits.append(Hit(fact=self._fact(item), bank=self.bank_id, score=score, parts=parts))
        return hits

    def _fact(self, item: Found) -> Fact:
        fact = fact_of(item)
        behind = item.raw.get("source_fact_ids")
        if not isinstance(behind, list) or not behind:
            return fact
        return replace(fact, metadata={**fact.metadata, "source_facts": ",".join(map(str, behind))})


def with_evidence(hits: list[Hit], answer: object) -> list[Hit]:
    """Hits with the texts of the facts behind them, where the answer has them."""
    behind = answer.get("source_facts") if isinstance(answer, Mapping) else None
    if not isinstance(behind, Mapping):
        return hits
    texts = {key: found.text for key, raw in behind.items() for found in found_in([raw])}

    def of(hit: Hit) -> tuple[str, ...]:
        ids = hit.fact.metadata.get("source_facts", "").split(",")
        return tuple(texts[one] for one in ids if one in texts)

    return [replace(hit, evidence=of(hit)) for hit in hits]


def recall_body(query: Query, settings: Recall) -> dict[str, Any] | None:
    """The request; None when nothing can be found."""
    text = cut((query.whole or query.text).strip(), QUERY_TOKENS)
    tags = tag_fields(query.scope.tags)
    if query.limit <= 0 or tags is None or not any(letter.isalnum() for letter in text):
        return None
    tokens = query.max_tokens or settings.max_tokens
    body: dict[str, Any] = {
        "query": text,
        "max_tokens": tokens * NARROWED if _narrowed(query.scope) else tokens,
        "budget": query.budget,
        # Observations have no kind of ours, no document and no session.
        "prefer_observations": _prefers(query, settings) and not _of_facts(query.scope),
        **tags,
        "include": {"entities": None},
    }
    types = [kind for kind in query.scope.kinds if kind in TYPES]
    if types and len(types) == len(query.scope.kinds):
        body["types"] = types
    # The configured floors are a quality pass of ours, on what comes back (s1/S-QP-1).
    floors = {part: least for part, least in query.min_scores.items() if part in _PARTS}
    if floors:
        body["min_scores"] = floors
    if at := query.at.isoformat() if query.at else settings.query_timestamp:
        body["query_timestamp"] = at
    if most := _source_facts(query, settings):
        body["include"]["source_facts"] = {"max_tokens": most}
    return body


def reflect_body(query: Query, tags: Mapping[str, Any]) -> dict[str, Any]:
    """The request for a composed answer, within a tag condition."""
    body: dict[str, Any] = {
        "query": cut(query.text.strip(), QUERY_TOKENS),
        **tags,
        "include": {"facts": {}},
        "context": query.context,
        "budget": query.budget,
        "max_tokens": query.max_tokens,
        "fact_types": [kind for kind in query.scope.kinds if kind in TYPES],
        **query.more,
    }
    return {name: value for name, value in body.items() if value not in (None, [])}


def _prefers(query: Query, settings: Recall) -> bool:
    told = query.prefer_observations
    return settings.prefer_observations if told is None else told


def _source_facts(query: Query, settings: Recall) -> int:
    if query.source_facts is not None:
        return query.source_facts
    return settings.max_source_facts_tokens if settings.include_source_facts else 0


def cut(text: str, tokens: int) -> str:
    """The beginning of a text that is surely below so many tokens (pi/H-22)."""
    spent = 0.0
    for number, letter in enumerate(text):
        spent += 0.4 if letter < "\x80" else 0.8 if letter < "\u2e80" else 1.5
        if spent > tokens:
            return text[:number].rstrip()
    return text


def in_scope(fact: Fact, scope: Scope) -> bool:
    """What the server has no condition for, or may have overlooked."""
    said = fact.timestamp or fact.created_at
    kinds = [kind for kind in scope.kinds if kind not in TYPES]
    return (
        allows(scope.tags, fact.tags)
        and (not kinds or len(kinds) < len(scope.kinds) or fact.kind in kinds)
        and (scope.since is None or (said is not None and said >= scope.since))
        and (scope.until is None or (said is not None and said < scope.until))
        and (scope.file is None or scope.file.lower() in fact.text.lower())
        and scope.document_id in (None, fact.document_id)
        and scope.session_id in (None, fact.provenance.session_id)
    )


def _of_facts(scope: Scope) -> bool:
    kinds = any(kind not in TYPES for kind in scope.kinds)
    return kinds or scope.document_id is not None or scope.session_id is not None


def _narrowed(scope: Scope) -> bool:
    one_of = (scope.since, scope.until, scope.file)
    return _of_facts(scope) or any(part is not None for part in one_of)


def _bare(item: Found, scope: Scope) -> bool:
    own = str(item.raw.get("document_id") or "").startswith(OWN)
    return item.raw.get("metadata") is None and (own or scope.session_id is not None)


def _scores(item: Found) -> Mapping[str, Any]:
    scores = item.raw.get("scores")
    return scores if isinstance(scores, Mapping) else {}


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)
