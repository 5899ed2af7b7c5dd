"""Proposes one sentence for two memories, and writes it once its user has agreed."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hindsight_core.errors import BankError, ConfigError
from hindsight_core.hookspecs import Resolution
from hindsight_core.identity import fact_id, note_id
from hindsight_core.memorize.capture.answers import AcceptAnswer, ConsolidateAnswer
from hindsight_core.memorize.capture.likeness import Likeness
from hindsight_core.memorize.capture.writer import SOURCE, TAG
from hindsight_core.memorize.consolidate.pairs import (
    Pair,
    disjoint,
    pairs_by_vectors,
    pairs_by_words,
    partition,
    partitions,
)
from hindsight_core.memorize.consolidate.united import united
from hindsight_core.memorize.lifecycle.memory import Memory
from hindsight_core.memorize.target import Target
from hindsight_core.memory import Fact, Provenance
from hindsight_core.prompt_contexts_capture import Consolidate, ConsolidateValidation
from hindsight_core.prompt_fields import FactLine

if TYPE_CHECKING:
    from hindsight_core.memorize.lifecycle.keeper import Keeper
    from hindsight_core.memorize.parts import Parts
    from hindsight_core.memorize.store import Store

MOST = 10_000
TOKENS = 1200
BY_HAND = "no model is configured: write the sentence yourself"
CHANGED = "a memory of this pair was changed since it was shown; look at the pairs again"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A pair, and the sentence that may stand for both.

    Attributes:
        pair: The two memories, as they were shown.
        text: The sentence; empty where none was proposed.
        reason: Why, in a few words.
        enabled: The sentence may be stored as it is; a person may always write another.
    """

    pair: Pair
    text: str
    reason: str
    enabled: bool


class Consolidation:
    """Consolidates memories of one bank.

    Args:
        parts: Settings, models, and what else a run works with.
        store: Writes documents.
        keeper: Of the same bank.
        clean: Makes a text safe; blank when nothing may be stored.
    """

    def __init__(
        self, parts: Parts, store: Store, keeper: Keeper, *, clean: Callable[[str], str]
    ) -> None:
        self._parts = parts
        self._store = store
        self._keeper = keeper
        self._clean = clean
        self._likeness = Likeness(parts.active.embedder)

    async def propose(self) -> list[Proposal]:
        """The likest pairs, each with a sentence where a model proposes one.

        Raises:
            HindsightError: The bank or a model failed.
        """
        pairs = await self.pairs()
        self._keeper.sink("compaction.planned", {"pairs": len(pairs)})
        return [await self._proposal(pair) for pair in pairs]

    async def pairs(self) -> list[Pair]:
        """The likest pairs of active memories here, no memory in two of them."""
        rules = self._parts.settings.consolidation
        page = await self._keeper.bank.list_facts(state="valid", limit=MOST)
        here = self._parts.active.project
        memories = [
            memory
            for memory in (await self._keeper.of_facts(page.facts)).values()
            if memory.record.scope == "global" or memory.record.project in ("", here)
        ]
        found: list[Pair] = []
        for part in partitions(memories):
            found += await self._near(part, rules.similarity_threshold)
        return disjoint(found, most=rules.maximum_proposals)

    async def combine(
        self, proposal: Proposal, *, text: str | None = None, session_id: str | None = None
    ) -> Memory:
        """Let one sentence take the place of a pair.

        Args:
            proposal: As it was shown.
            text: What its user wrote instead of the proposed sentence.
            session_id: The session in which it was agreed to.

        Raises:
            ConfigError: The sentence cannot stand for both, or the pair is none.
            BankError: A memory was changed since it was shown, or the bank failed.
        """
        sources = [proposal.pair.first, proposal.pair.second]
        if len({partition(memory) for memory in sources}) != 1:
            raise ConfigError(
                "these memories differ in scope, kind, project or whose words they are: "
                "consolidation never crosses such authority boundaries"
            )
        line = self._clean(text if text is not None else proposal.text)
        self._check(line, sources)
        await self._accepted(line, sources)
        await self._unchanged(sources)
        done = await self._write(line, sources, session_id=session_id)
        ids = list(proposal.pair.ids)
        self._keeper.sink("compaction.applied", {"ids": ids, "id": done.fact.id, "text": line})
        return done

    async def _near(self, part: Sequence[Memory], threshold: float) -> list[Pair]:
        vectors, factor = await self._likeness.vectors([memory.fact.text for memory in part])
        least = threshold * factor
        if vectors is None:
            return await asyncio.to_thread(pairs_by_words, part, least=least)
        return await asyncio.to_thread(pairs_by_vectors, part, vectors, least=least)

    async def _proposal(self, pair: Pair) -> Proposal:
        if not self._parts.stages.available("retain"):
            return Proposal(pair, "", BY_HAND, enabled=False)
        answer = await self._parts.stages.ask(
            "capture/consolidate",
            Consolidate(_lines([pair.first, pair.second])),
            ConsolidateAnswer,
            purpose="retain",
            max_tokens=TOKENS,
        )
        text = answer.text.strip()
        fits = bool(text) and "\n" not in text and len(text) <= self._longest(pair)
        return Proposal(pair, text, answer.reason, enabled=answer.merge and fits)

    def _longest(self, pair: Pair) -> int:
        """A sentence that is much longer than either is a list (am/A-COMP-2)."""
        longest = max(len(pair.first.fact.text), len(pair.second.fact.text))
        return min(self._parts.fact_limit, math.ceil(1.25 * longest))

    def _check(self, line: str, sources: Sequence[Memory]) -> None:
        if not line:
            raise ConfigError("the sentence is blank, or holds what may not be stored")
        for memory in sources:
            if memory.fact.pinned:
                raise ConfigError(f"{memory.fact.id} is pinned: unpin it first")

    async def _accepted(self, line: str, sources: Sequence[Memory]) -> None:
        """An independent look, also at what a person wrote (am/A-COMP-4)."""
        if not self._parts.stages.available("retain"):
            return
        answer = await self._parts.stages.ask(
            "capture/consolidate_validation",
            ConsolidateValidation(_lines(sources), line),
            AcceptAnswer,
            purpose="retain",
            max_tokens=TOKENS,
        )
        if not answer.accepted:
            raise ConfigError(f"the sentence does not stand for both: {answer.reason or 'refused'}")

    async def _unchanged(self, sources: Sequence[Memory]) -> None:
        now = await self._keeper.memories([memory.fact.id for memory in sources])
        for memory in sources:
            held = now.get(memory.fact.id)
            if held is None or held.fact.text != memory.fact.text:
                raise BankError(CHANGED)

    async def _write(
        self, line: str, sources: Sequence[Memory], *, session_id: str | None
    ) -> Memory:
        parts, keeper = self._parts, self._keeper
        moment = await keeper.moment(session_id)
        record = united(sources, parts.settings.lifecycle, moment, cwd=parts.active.cwd)
        fact = _fact(line, sources)
        olds = [memory for memory in sources if memory.fact.id != fact.id]
        seen = {memory.fact.id: memory.record for memory in olds}
        if not await keeper.records.succeed(keeper.bank.id, fact.id, record=record, seen=seen):
            raise BankError(CHANGED)
        target = Target(
            document_id=note_id(line),
            source="user-edit",
            tags=(parts.bank.id, TAG),
            session_id=session_id,
            timestamp=fact.timestamp,
            explicit=True,
            verbatim=True,
        )
        report = await self._store.resolved(
            [Resolution("replace", fact, memory.fact.id) for memory in olds], target
        )
        if report.outcome == "failed":
            raise BankError(report.reason or "the memory could not be stored", retryable=False)
        return Memory(fact, record)


def _fact(line: str, sources: Sequence[Memory]) -> Fact:
    first = sources[0].fact
    said = [memory.fact.timestamp for memory in sources if memory.fact.timestamp]
    return Fact(
        id=fact_id(line),
        text=line,
        kind=first.kind,
        category=first.category,
        timestamp=max(said) if said else None,
        tags=(TAG, first.kind),
        metadata=dict(first.metadata),
        provenance=Provenance(
            source=SOURCE,
            session_id=first.provenance.session_id,
            speaker=sources[0].record.told.actor,
            quote=first.provenance.quote,
        ),
    )


def _lines(memories: Sequence[Memory]) -> tuple[FactLine, ...]:
    return tuple(FactLine(memory.fact.text, memory.fact.id) for memory in memories)
