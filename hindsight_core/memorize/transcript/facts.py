"""Facts of a transcript, for a bank that finds none itself: nothing silently recalls nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindsight_core.identity import fact_id
from hindsight_core.memorize import evidence
from hindsight_core.memorize.run import current
from hindsight_core.memorize.scrub import scrub
from hindsight_core.memory import Fact, Provenance
from hindsight_core.prompt_contexts import BankFacts, Mission
from hindsight_core.transcript.projections import memorize_blocks
from hindsight_core.transcript.windows import chunk_size, chunks

if TYPE_CHECKING:
    from hindsight_core.config.settings import Settings
    from hindsight_core.stages import Stages
    from hindsight_core.transcript.entry import Window

TOKENS = 2048
MOST_FACTS = 100
_KINDS = frozenset({"fact", "decision", "constraint", "knowhow", "pitfall"})
_CATEGORIES = {"decision": "decisions", "constraint": "constraints", "pitfall": "pitfalls"}


async def transcript_facts(window: Window, *, settings: Settings, stages: Stages) -> list[Fact]:
    """What a model finds in a transcript; without one the user's lasting statements, by rules.

    Raises:
        ProviderError: The model failed: the entries are kept for another try.
        BudgetExceeded: No tokens left for automatic work.
    """
    if not stages.available("retain"):
        from hindsight_core.memorize.rules import user_facts

        return user_facts(window, limit=settings.security.max_fact_characters)
    from hindsight_core.memorize.answers import RawFactsAnswer

    blocks = memorize_blocks(window.entries, window.saved)
    size = chunk_size(
        await stages.models.context_window("retain"), settings.memorize.chunk_input_fraction
    )
    mission = stages.prompts.render("bank/retain_mission", Mission(settings.memorize.language))
    found: dict[str, Fact] = {}
    for chunk in chunks(blocks, size):
        current().calls += 1
        answer = await stages.ask(
            "bank/facts",
            BankFacts(content=chunk, context=window.project or "", mission=mission.text),
            RawFactsAnswer,
            purpose="retain",
            max_tokens=TOKENS,
        )
        current().rejected.extend(answer.rejected)
        for item in answer.facts:
            if (text := scrub(item.text)) is not None:
                found.setdefault(fact_id(text), _fact(text, item.kind, window))
    return evidence.link(window, list(found.values())[:MOST_FACTS])


def _fact(text: str, kind: str, window: Window) -> Fact:
    known = kind.lower() if kind.lower() in _KINDS else "fact"
    return Fact(
        id=fact_id(text),
        text=text,
        kind=known,
        category=_CATEGORIES.get(known, known if known == "knowhow" else "facts"),
        provenance=Provenance(
            source="session-note", session_id=window.session_id, host=window.host
        ),
    )
