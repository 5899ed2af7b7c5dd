"""Extraction with a model: chunks, extract, merge, verify (pi/M-10 to M-14)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from hindsight_core.errors import AnswerError, BudgetExceeded, ProviderError
from hindsight_core.identity import fact_id, normalise
from hindsight_core.memorize import evidence
from hindsight_core.memorize.categories import Categories, categories, kind_of
from hindsight_core.memorize.run import current
from hindsight_core.memorize.scrub import scrub
from hindsight_core.memory import Fact, Provenance
from hindsight_core.prompt_contexts import Extract, Merge, Verify
from hindsight_core.prompt_fields import FactLine
from hindsight_core.transcript.projections import memorize_blocks
from hindsight_core.transcript.windows import chunk_size, chunks, join

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hindsight_core.config.settings import Settings
    from hindsight_core.memorize.answers import FactAnswer
    from hindsight_core.stages import Stages
    from hindsight_core.transcript.entry import Window

logger = logging.getLogger("hindsight_core.memorize")
EXTRACT_TOKENS = 1536
NOTE_TOKENS = 2048
MOST_FACTS = 100


class Distiller:
    """Finds the lasting facts of a window with the retain models.

    Args:
        settings: Language, categories, size of a chunk.
        stages: The model chain.
        redact: Takes secrets out of what a model says, before it is given to the next call.
    """

    def __init__(
        self, settings: Settings, stages: Stages, *, redact: Callable[[str], str] = str
    ) -> None:
        self._settings = settings
        self._stages = stages
        self._redact = redact
        self._language = settings.memorize.language

    async def facts(self, window: Window) -> list[Fact]:
        """The facts of a window, linked to their entries; an empty list is an answer.

        Raises:
            ProviderError: Extraction failed: the window is kept for another try (pi/D-02).
            BudgetExceeded: No tokens left for automatic work.
        """
        blocks = memorize_blocks(window.entries, window.saved)
        text = join(blocks)
        if not any(not block.saved for block in blocks):
            return []
        size = chunk_size(
            await self._stages.models.context_window("retain"),
            self._settings.memorize.chunk_input_fraction,
        )
        known = categories(self._settings, self._stages.prompts)
        notes = [await self._extract(chunk, known) for chunk in chunks(blocks, size)]
        found = self._clean([note for note in notes if note], known)
        prior = current().prior_summary
        if found and (sum(bool(note) for note in notes) > 1 or prior):
            found = await self._merge([note for note in notes if note], found, prior, known)
        if found and len(text) <= size:
            found = await self._verify(text, found)
        return evidence.link(window, [self._fact(answer, window, known) for answer in found])

    async def _extract(self, chunk: str, known: Categories) -> list[FactAnswer]:
        from hindsight_core.memorize.answers import FactsAnswer

        current().calls += 1
        answer = await self._stages.ask(
            "memorize/extract",
            Extract(chunk, known.texts, self._language),
            FactsAnswer,
            purpose="retain",
            max_tokens=EXTRACT_TOKENS,
        )
        current().rejected.extend(answer.rejected)
        return [f.model_copy(update={"text": self._redact(f.text)}) for f in answer.facts]

    async def _merge(
        self,
        notes: Sequence[Sequence[FactAnswer]],
        joined: list[FactAnswer],
        prior: str,
        known: Categories,
    ) -> list[FactAnswer]:
        """One note of several, without what is known; the joined notes when that fails."""
        from hindsight_core.memorize.answers import FactsAnswer

        current().calls += 1
        texts = tuple(_bullets(note, known) for note in notes)
        try:
            answer = await self._stages.ask(
                "memorize/merge",
                Merge(texts, prior or "(empty)", self._language),
                FactsAnswer,
                purpose="retain",
                max_tokens=NOTE_TOKENS,
            )
        except (ProviderError, BudgetExceeded) as error:
            return self._passed("memorize/merge", error, joined)
        current().rejected.extend(answer.rejected)
        return self._clean([answer.facts], known)

    async def _verify(self, transcript: str, found: list[FactAnswer]) -> list[FactAnswer]:
        """The facts that the transcript supports; all of them when verifying fails (pi/D-22)."""
        from hindsight_core.memorize.answers import KeepAnswer

        current().calls += 1
        lines = tuple(FactLine(text=fact.text) for fact in found)
        try:
            answer = await self._stages.ask(
                "memorize/verify",
                Verify(transcript, lines, self._language),
                KeepAnswer,
                purpose="retain",
                max_tokens=NOTE_TOKENS,
            )
        except (ProviderError, BudgetExceeded) as error:
            return self._passed("memorize/verify", error, found)
        keep = {number for number in answer.keep if 1 <= number <= len(found)}
        if answer.keep and not keep:
            return self._passed("memorize/verify", AnswerError("unknown numbers"), found)
        return [fact for number, fact in enumerate(found, 1) if number in keep]

    def _passed(self, stage: str, error: Exception, kept: list[FactAnswer]) -> list[FactAnswer]:
        logger.info("%s failed, the note is kept: %s", stage, error)
        current().passed.append(f"{stage}: {error}")
        return kept

    def _clean(self, notes: Sequence[Sequence[FactAnswer]], known: Categories) -> list[FactAnswer]:
        """Notes as one list: scrubbed, no banned category, no fact twice, bounded."""
        found: dict[str, FactAnswer] = {}
        for fact in (fact for note in notes for fact in note):
            text = scrub(fact.text)
            if text is not None and not known.banned(known.key(fact.category)):
                clean = fact.model_copy(update={"text": text})
                found.setdefault(normalise(text), clean)
        return list(found.values())[:MOST_FACTS]

    def _fact(self, answer: FactAnswer, window: Window, known: Categories) -> Fact:
        key = known.key(answer.category)
        return Fact(
            id=fact_id(answer.text),
            text=answer.text,
            kind=kind_of(key),
            category=key,
            provenance=Provenance(
                source="session-note", session_id=window.session_id, host=window.host
            ),
        )


def _bullets(note: Sequence[FactAnswer], known: Categories) -> str:
    """A chunk's facts under their headings."""
    groups: dict[str, list[str]] = {}
    for fact in note:
        groups.setdefault(known.heading(known.key(fact.category)), []).append(f"- {fact.text}")
    return "\n".join("\n".join([f"{heading}:", *lines]) for heading, lines in groups.items())
