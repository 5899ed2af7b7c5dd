"""What the user block is made of: facts of the personal bank, or one of its models (pi/UB-06)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from hindsight_core.errors import BankError
from hindsight_core.memory import Fact, Query

if TYPE_CHECKING:
    from hindsight_core.banks.base import Bank
    from hindsight_core.recall.person.marker import Marker
    from hindsight_core.recall.search import Cleans

LISTED = 200
SEARCHED = 24
CHARACTERS = 4000
# What a server concluded itself, and what happened to an agent, are not the person's facts.
NOT_OF_THE_PERSON = frozenset({"observation", "experience"})
# A server ends a fact with the names in it.
TAIL = " | Involving: "
# What a mental model says while it is being written.
UNWRITTEN = "generating content"


@runtime_checkable
class HasModels(Protocol):
    """A bank that keeps mental models."""

    async def mental_model(self, model_id: str) -> str | None:
        """Its content; None while there is none."""
        ...


@dataclass(frozen=True, slots=True)
class Known:
    """What is known about the person; either may be empty."""

    facts: tuple[str, ...] = ()
    text: str = ""

    def __bool__(self) -> bool:
        return bool(self.facts or self.text)


async def known(bank: Bank, marker: Marker, sanitiser: Cleans) -> Known:
    """What a marker asks for, without a model call of ours; raises `BankError`."""
    if marker.model is not None:
        return Known(text=await _model(bank, marker.model))
    if marker.query is not None:
        hits = await bank.recall(Query(text=marker.query, limit=marker.limit or SEARCHED))
        found: Iterable[Fact] = [hit.fact for hit in hits][: marker.limit]
    else:
        found = (await bank.list_facts(limit=LISTED)).facts
    return Known(facts=chosen(found, sanitiser))


def chosen(facts: Iterable[Fact], sanitiser: Cleans) -> tuple[str, ...]:
    """Texts of valid facts about the person in an order that does not change (pi/UB-07).

    Together at most `CHARACTERS`: one that does not fit is left out whole, a shorter one behind it
    may still fit.
    """
    kept = [f for f in facts if f.state == "valid" and f.kind not in NOT_OF_THE_PERSON]
    texts: dict[str, None] = {}
    room = CHARACTERS
    for fact in sorted(kept, key=lambda fact: (fact.id, fact.text)):
        flat = " ".join(fact.text.split()).split(TAIL)[0]
        text = sanitiser.fact_text(flat, limit=CHARACTERS + 1)
        if text and text not in texts and len(text) <= room:
            texts[text] = None
            room -= len(text)
    return tuple(texts)


async def _model(bank: Bank, model_id: str) -> str:
    if not isinstance(bank, HasModels):
        raise BankError(f"bank {bank.id} keeps no mental models", retryable=False)
    text = (await bank.mental_model(model_id) or "").strip()
    return "" if text.casefold().startswith(UNWRITTEN) else text
