"""What the bank holds near the candidates (pi/M-16)."""

from __future__ import annotations

import asyncio
import logging
import re
from typing import TYPE_CHECKING

from hindsight_core.errors import BankError, BudgetExceeded, ProviderError
from hindsight_core.memorize.lifecycle.memory import is_lapsed
from hindsight_core.memorize.run import current
from hindsight_core.memory import Query
from hindsight_core.prompt_contexts import Topics
from hindsight_core.prompt_fields import FactLine

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hindsight_core.banks.base import Bank
    from hindsight_core.memory import Fact, Hit
    from hindsight_core.stages import Stages

logger = logging.getLogger("hindsight_core.memorize")
PER_FACT = 8
PER_TOPIC = 24
MOST_TOPICS = 5
AT_ONCE = 4
TOPIC_TOKENS = 320
RECALL_TOKENS = 800
# Servers refuse a query of more than 500 tokens (pi/D-09); this is an upper estimate.
QUERY_TOKENS = 400
_WIDE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\u3040-\u30ff]")


async def find_neighbours(
    bank: Bank,
    facts: Sequence[Fact],
    *,
    stages: Stages | None = None,
    language: str = "en",
) -> dict[str, tuple[Hit, ...]]:
    """Stored facts near each candidate, by candidate id; a query that fails finds nothing.

    Args:
        bank: Where to look.
        facts: The candidates.
        stages: With a model, its topics are searched too, and the note as a whole.
        language: For the topics.
    """
    # A bank that extracts searches slowly, and knows facts by other words than ours.
    by_topic = stages is not None and bank.capabilities.extracts
    asked = [] if by_topic else [fact.text for fact in facts]
    wide = await _topics(stages, facts, language) if stages is not None else ()
    limit = asyncio.Semaphore(AT_ONCE)
    searches = [_search(bank, text, PER_FACT, limit) for text in asked]
    searches += [_search(bank, text, PER_TOPIC, limit) for text in wide]
    results = await asyncio.gather(*searches)
    shared = [hit for hits in results[len(asked) :] for hit in hits]
    own = results[: len(asked)] or [()] * len(facts)
    return {fact.id: _distinct([*near, *shared]) for fact, near in zip(facts, own, strict=True)}


async def retired_by_hand(bank: Bank, *, limit: int = 200) -> tuple[Fact, ...]:
    """Facts that a person invalidated, newest first: they do not come back (br/BR-41).

    What only lapsed may be learnt again.
    """
    try:
        found = (await bank.list_facts(state="invalidated", limit=limit)).facts
        return tuple(fact for fact in found if not is_lapsed(fact))
    except BankError as error:
        logger.info("cannot look at retired facts: %s", error)
        return ()


def bounded(text: str, *, tokens: int = QUERY_TOKENS) -> str:
    """The beginning of a text that is surely below so many tokens."""
    spent = 0.0
    for number, letter in enumerate(text):
        spent += 1.5 if _WIDE.match(letter) else 0.4
        if spent > tokens:
            return text[:number]
    return text


async def _topics(stages: Stages, facts: Sequence[Fact], language: str) -> tuple[str, ...]:
    """The whole note and up to five topics of it; the note alone when the model fails."""
    from hindsight_core.memorize.answers import TopicsAnswer

    whole = " ".join(fact.text for fact in facts)
    current().calls += 1
    lines = tuple(FactLine(text=fact.text) for fact in facts)
    try:
        answer = await stages.ask(
            "memorize/topics",
            Topics(lines, language),
            TopicsAnswer,
            purpose="retain",
            max_tokens=TOPIC_TOKENS,
        )
    except (ProviderError, BudgetExceeded) as error:
        logger.info("memorize/topics failed, the facts themselves are searched: %s", error)
        current().passed.append(f"memorize/topics: {error}")
        return (whole,)
    topics = [query.strip() for query in answer.queries if query.strip()]
    return (whole, *topics[:MOST_TOPICS])


async def _search(bank: Bank, text: str, limit: int, gate: asyncio.Semaphore) -> Sequence[Hit]:
    async with gate:
        try:
            return await bank.recall(
                Query(bounded(text), limit=limit, max_tokens=RECALL_TOKENS, budget="mid")
            )
        except BankError as error:
            logger.info("a search for neighbours failed: %s", error)
            return ()


def _distinct(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    found: Mapping[str, Hit] = {hit.fact.id: hit for hit in reversed(hits)}
    return tuple(sorted(found.values(), key=lambda hit: -hit.score))
