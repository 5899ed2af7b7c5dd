"""Facts of another memory into a bank: sanitised, each once, never over what a person decided."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING

from hindsight_core.identity import fact_id
from hindsight_core.memorize.poison import is_injection

if TYPE_CHECKING:
    from hindsight_core.memory import Fact
    from hindsight_core.runtime import Runtime

BATCH = 500


@dataclass(slots=True)
class Brought:
    """What became of facts.

    Attributes:
        stored: Texts of those that are new.
        known: How many the bank holds, in whatever state.
        refused: How many speak to the agent in the form of an instruction, or hold nothing.
    """

    stored: list[str] = field(default_factory=list)
    known: int = 0
    refused: int = 0


async def bring(
    runtime: Runtime, bank_id: str, facts: Iterable[Fact], *, dry_run: bool = False
) -> Brought:
    """Store the facts that a bank does not hold; what it retired stays retired.

    Args:
        runtime: The opened configuration.
        bank_id: Where they go.
        facts: As the other memory has them; ids are made from their texts.
        dry_run: Count only.

    Raises:
        BankError: The bank did not answer; what is stored by then is stored.
    """
    bank, brought = runtime.open_bank(bank_id), Brought()
    waiting, seen = iter(facts), set[str]()
    while batch := list(islice(waiting, BATCH)):
        new: list[Fact] = []
        for fact in batch:
            clean = cleaned(runtime, fact)
            if clean is None:
                brought.refused += 1
            elif clean.id in seen or await bank.get_fact(clean.id) is not None:
                brought.known += 1
            else:
                new.append(clean)
                seen.add(clean.id)
        if new and not dry_run:
            await bank.import_facts(new)
        brought.stored += [fact.text for fact in new]
    return brought


def cleaned(runtime: Runtime, fact: Fact) -> Fact | None:
    """A fact across the sanitising boundary, named by its text; None when it may not pass."""
    limit = runtime.settings.security.max_fact_characters
    clean = runtime.sanitiser.fact(fact, limit=limit)
    if not clean.text or is_injection(clean.text):
        return None
    return replace(clean, id=fact_id(clean.text))


def merged(results: Sequence[Brought]) -> Brought:
    """Several results as one."""
    return Brought(
        [text for result in results for text in result.stored],
        sum(result.known for result in results),
        sum(result.refused for result in results),
    )
