"""The quality pass: what a bank gave and nobody should see (s1/S-QP-1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from hindsight_core.memory import Hit
from hindsight_core.recall.floor import reaches
from hindsight_core.recall.shown import key
from hindsight_core.transcript.blocks import is_block

Drop = Literal["blank-memory", "recall-contamination", "duplicate-memory", "below-score-floor"]


@dataclass(frozen=True, slots=True)
class Passed:
    """What one answer of a bank came to.

    Attributes:
        kept: In their order.
        dropped: Each with the first reason that holds.
    """

    kept: tuple[Hit, ...]
    dropped: tuple[tuple[Hit, Drop], ...] = ()

    @property
    def counts(self) -> Mapping[Drop, int]:
        """How many were dropped for each reason."""
        return Counter(reason for _, reason in self.dropped)


def quality_pass(hits: Sequence[Hit], floors: Mapping[str, float]) -> Passed:
    """Drop blanks, our own blocks, repetitions and what is below a floor.

    A floor whose part a hit does not have does not apply; of several floors each must hold.
    Only what is kept counts as seen.
    """
    kept: list[Hit] = []
    dropped: list[tuple[Hit, Drop]] = []
    seen: set[str] = set()
    for hit in hits:
        reason = _drop(hit, seen, floors)
        if reason is None:
            seen.add(key(hit.fact.text))
            kept.append(hit)
        else:
            dropped.append((hit, reason))
    return Passed(tuple(kept), tuple(dropped))


def _drop(hit: Hit, seen: set[str], floors: Mapping[str, float]) -> Drop | None:
    text = hit.fact.text
    if not text.strip():
        return "blank-memory"
    if is_block(text):
        return "recall-contamination"
    if key(text) in seen:
        return "duplicate-memory"
    if not all(reaches(hit, part, floor) for part, floor in floors.items()):
        return "below-score-floor"
    return None
