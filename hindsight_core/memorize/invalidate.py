"""Retires stored facts whose subject a window says is gone for good (pi/I-01 to I-08).

Off by default. Only facts that nothing replaces: a changed value is the resolver's. The model
names facts and quotes, the code decides what counts (`quote`), and nothing is retired before what
the window says instead is stored, or durable on its way (pi/D-17).
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from hindsight_core.errors import BankError, BudgetExceeded, ProviderError
from hindsight_core.memorize.quote import Evidence
from hindsight_core.memorize.report import Retired
from hindsight_core.memorize.run import current
from hindsight_core.prompt_contexts import Invalidate
from hindsight_core.prompt_fields import FactLine
from hindsight_core.transcript.projections import memorize_blocks
from hindsight_core.transcript.windows import chunk_size, join

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hindsight_core.memorize.answers import RetireAnswer
    from hindsight_core.memorize.parts import Parts
    from hindsight_core.memorize.target import Target
    from hindsight_core.memory import Fact, Hit
    from hindsight_core.transcript.entry import Window

logger = logging.getLogger("hindsight_core.memorize")
MOST_FACTS = 60
TOKENS = 512
STAGE = "memorize/invalidate"


class Orphans:
    """Finds and retires facts about what is gone.

    Args:
        parts: Settings, models, bank.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def find(self, hits: Iterable[Hit], target: Target) -> tuple[Retired, ...]:
        """Facts among the neighbours that the window retires; any failure retires nothing.

        Args:
            hits: What the dedup recall found.
            target: The document to be written, with its window.
        """
        window, stages = target.said, self._parts.stages
        if not self._parts.settings.memorize.invalidate or window is None:
            return ()
        facts = _candidates(hits, target)
        if not facts or not current().ask or not stages.available("retain"):
            return ()
        transcript = await self._transcript(window)
        if transcript is None:
            return ()
        from hindsight_core.memorize.answers import RetireAnswer

        current().calls += 1
        lines = tuple(FactLine(text=fact.text, id=fact.id) for fact in facts)
        try:
            answer = await stages.ask(
                STAGE,
                Invalidate(transcript, lines),
                RetireAnswer,
                purpose="retain",
                max_tokens=TOKENS,
            )
        except (ProviderError, BudgetExceeded) as error:
            logger.info("%s failed, nothing is retired: %s", STAGE, error)
            current().passed.append(f"{STAGE}: {error}")
            return ()
        return _verified(answer, facts, Evidence(window))

    async def retire(
        self, found: Sequence[Retired], *, replaced: Iterable[str] = ()
    ) -> tuple[Retired, ...]:
        """Retire them, each with its quote as the reason; those that could be.

        Args:
            found: From `find`.
            replaced: Facts that the document itself has superseded.
        """
        gone, done = set(replaced), []
        for item in found:
            if item.id in gone:
                continue
            try:
                await self._parts.bank.set_state(item.id, "invalidated", reason=item.quote)
            except BankError as error:
                logger.info("fact %s is not retired: %s", item.id, error)
                current().passed.append(f"retiring {item.id}: {error}")
                continue
            done.append(item)
        return tuple(done)

    async def _transcript(self, window: Window) -> str | None:
        """The window as the model reads it; None where one call cannot read it (pi/I-02)."""
        text = join(memorize_blocks(window.entries, window.saved))
        size = chunk_size(
            await self._parts.stages.models.context_window("retain"),
            self._parts.settings.memorize.chunk_input_fraction,
        )
        return text if text and len(text) <= size else None


def _candidates(hits: Iterable[Hit], target: Target) -> list[Fact]:
    """At most 60 valid facts that were known before this window and are nobody's to protect."""
    found: dict[str, Fact] = {}
    for hit in hits:
        fact = hit.fact
        if fact.state != "valid" or fact.pinned or fact.kind == "observation":
            continue
        later = fact.timestamp and target.timestamp and fact.timestamp > target.timestamp
        if later or fact.document_id == target.document_id:
            continue
        found.setdefault(fact.id, fact)
    return list(found.values())[:MOST_FACTS]


def _verified(
    answer: RetireAnswer, facts: Sequence[Fact], evidence: Evidence
) -> tuple[Retired, ...]:
    known = {fact.id: fact for fact in facts}
    kept: dict[str, Retired] = {}
    for item in answer.retire:
        fact = known.get(item.id)
        if fact is None or fact.id in kept:
            continue
        if evidence.supports(item.quote, fact.text):
            kept[fact.id] = Retired(fact.id, fact.text, item.quote.strip())
        else:
            current().rejected.append(f"{STAGE}: no evidence against {fact.id}")
    return tuple(kept.values())
