"""An explicit note as facts: what a person or the agent asked to keep (pi/G-01)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hindsight_core.errors import BudgetExceeded, ConfigError, ProviderError
from hindsight_core.identity import fact_id, note_id
from hindsight_core.memorize.particulars import PLAIN, Particulars
from hindsight_core.memorize.poison import is_injection
from hindsight_core.memorize.report import MemorizeReport
from hindsight_core.memorize.run import current
from hindsight_core.memorize.target import Target
from hindsight_core.memory import Fact, Provenance
from hindsight_core.prompt_contexts import BankFacts, Mission

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hindsight_core.memorize.context import WriteSource
    from hindsight_core.memorize.parts import Parts
    from hindsight_core.memorize.store import Store
    from hindsight_core.stages import Stages

KINDS = ("fact", "decision", "constraint", "knowhow", "pitfall")
CATEGORY = {
    "fact": "facts",
    "decision": "decisions",
    "constraint": "constraints",
    "knowhow": "knowhow",
    "pitfall": "pitfalls",
}
SOURCES: dict[str, tuple[WriteSource, str, str]] = {
    # given: (the path, the tag of the path, whose words it is)
    "agent-note": ("agent-note", "agent-manual", "assistant"),
    "user-note": ("user-note", "user-manual", "user"),
    "user-edit": ("user-edit", "user-manual", "user"),
}
MOST_FACTS = 60
NOTE_LIMIT = 32_000
RAW_TOKENS = 2048


class Notes:
    """Stores notes.

    Args:
        parts: What a run works with.
        store: Resolves and writes.
    """

    def __init__(self, parts: Parts, store: Store) -> None:
        self._parts = parts
        self._store = store

    async def retain(
        self,
        text: str,
        *,
        kind: str,
        tags: Sequence[str],
        source: str,
        session_id: str | None,
        host: str | None,
        particulars: Particulars = PLAIN,
    ) -> MemorizeReport:
        """Store a note; `Memorizer.retain_note` says how."""
        if kind not in KINDS:
            raise ConfigError(f"kind {kind!r} is not known; use one of {', '.join(KINDS)}")
        if source not in SOURCES:
            raise ConfigError(f"source {source!r} is not known; use one of {', '.join(SOURCES)}")
        parts = self._parts
        path, path_tag, speaker = SOURCES[source]
        clean = parts.sanitiser.text(text, limit=NOTE_LIMIT)
        if not any(letter.isalnum() for letter in clean):
            return MemorizeReport(
                "empty", reason="nothing is left of the note; give one self-contained sentence"
            )
        if speaker != "user" and is_injection(clean):
            return MemorizeReport(
                "skipped",
                reason="it reads like an instruction planted for agents; say who states it and "
                "what is true, as a fact",
            )
        every = (parts.bank.id, path_tag, kind, *parts.sanitiser.tags(tags))
        when = particulars.timestamp or parts.clock()
        named = particulars.document_id
        document = f"note-{parts.sanitiser.entry_id(named)}" if named else note_id(clean)
        provenance = Provenance(source=path, session_id=session_id, host=host, speaker=speaker)
        facts = {
            fact_id(line): Fact(
                id=fact_id(line),
                text=line,
                kind=kind,
                category=CATEGORY[kind],
                tags=every,
                timestamp=when,
                provenance=provenance,
            )
            for line in await self._lines(clean)
        }
        target = Target(
            document_id=document,
            source=path,
            tags=every,
            session_id=session_id,
            host=host,
            timestamp=when,
            explicit=True,
            text=clean,
            append=particulars.append,
            replaces=frozenset({document}) if named and not particulars.append else None,
            particulars=particulars,
        )
        return await self._store.store(list(facts.values()), target)

    async def _lines(self, text: str) -> list[str]:
        """The note itself where it is short, else its parts.

        A long note is taken apart by the model for a bank that cannot do it, and without a model
        at lines and sentences, so that nothing of it is cut off.
        """
        parts, limit = self._parts, self._parts.fact_limit
        line = " ".join(text.split())
        found = [line]
        if len(line) > limit:
            able = not parts.bank.capabilities.extracts and parts.stages.available("retain")
            found = await _by_model(text, parts.stages, parts.language) if able else []
            found = found[:MOST_FACTS] or by_sentences(text, limit)
        cleaned = (parts.sanitiser.fact_text(piece, limit=limit) for piece in found)
        return [piece for piece in cleaned if piece]


def by_sentences(text: str, limit: int) -> list[str]:
    """Lines, then sentences, then words: parts of at most the limit, nothing left out."""
    parts: list[str] = []
    for line in (re.sub(r"^\s*[-*•]\s+", "", raw).strip() for raw in text.split("\n")):
        pending = ""
        for sentence in re.split(r"(?<=[.!?。！？])\s*(?=\S)", line):
            for piece in _words(sentence, limit):
                if pending and len(pending) + len(piece) + 1 > limit:
                    parts.append(pending)
                    pending = ""
                pending = f"{pending} {piece}".strip()
        if pending:
            parts.append(pending)
    return parts


def _words(sentence: str, limit: int) -> list[str]:
    pieces, pending = [], ""
    for word in sentence.split():
        while len(word) > limit:
            pieces += [pending] if pending else []
            pieces.append(word[:limit])
            pending, word = "", word[limit:]
        if pending and len(pending) + len(word) + 1 > limit:
            pieces.append(pending)
            pending = ""
        pending = f"{pending} {word}".strip()
    return [*pieces, pending] if pending else pieces


async def _by_model(text: str, stages: Stages, language: str) -> list[str]:
    from hindsight_core.memorize.answers import RawFactsAnswer

    mission = stages.prompts.render("bank/retain_mission", Mission(language)).text
    current().calls += 1
    try:
        answer = await stages.ask(
            "bank/facts",
            BankFacts(content=text, context="", mission=mission),
            RawFactsAnswer,
            purpose="retain",
            max_tokens=RAW_TOKENS,
        )
    except (ProviderError, BudgetExceeded) as error:
        current().passed.append(f"bank/facts: {error}")
        return []
    return [item.text for item in answer.facts]
