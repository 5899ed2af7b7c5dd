"""From the verdicts of several queries to the facts of one turn (pi/R-14)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from hindsight_core.memory import Hit
from hindsight_core.recall.shown import key
from hindsight_core.turns import Searched

MIN_SCORE = 25
CANDIDATES = 24

Fate = Literal["injected", "shown", "duplicate", "cut", "dropped", "weak-query", "unjudged"]


@dataclass(frozen=True, slots=True)
class Merged:
    """What goes before the model, and what became of everything else.

    Attributes:
        hits: At most the cap, best query first.
        merged: How many there were before the cap.
        skipped_shown: Left out because they are before the model already.
        fates: For each query, pairs of hit and what became of it.
    """

    hits: tuple[Hit, ...]
    merged: int
    skipped_shown: int
    fates: tuple[tuple[tuple[Hit, Fate], ...], ...]

    @property
    def skipped_filtered(self) -> int:
        """Cut by the cap."""
        return self.merged - len(self.hits)


def distinct(hits: Iterable[Hit], *, limit: int = CANDIDATES) -> tuple[Hit, ...]:
    """The first ``limit`` hits with different texts, in their order (pi/R-10)."""
    seen: dict[str, Hit] = {}
    for hit in hits:
        seen.setdefault(key(hit.fact.text), hit)
    return tuple(seen.values())[:limit]


def merge(searched: Sequence[Searched], *, shown: frozenset[str], cap: int) -> Merged:
    """Facts of the queries by score, each text once, without those already shown."""
    taken: dict[str, Hit] = {}
    repeated: set[str] = set()
    fates: list[tuple[tuple[Hit, Fate], ...]] = [()] * len(searched)
    for index in sorted(range(len(searched)), key=lambda i: -_score(searched[i])):
        rows: list[tuple[Hit, Fate]] = []
        for hit in searched[index].candidates:
            fate = _fate(searched[index], hit, taken=taken, shown=shown)
            if fate == "injected":
                taken[key(hit.fact.text)] = hit
                fate = "injected" if len(taken) <= cap else "cut"
            elif fate == "shown":
                repeated.add(key(hit.fact.text))
            rows.append((hit, fate))
        fates[index] = tuple(rows)
    return Merged(
        hits=tuple(taken.values())[:cap],
        merged=len(taken),
        skipped_shown=len(repeated),
        fates=tuple(fates),
    )


def _score(searched: Searched) -> int:
    return searched.verdict.score if searched.verdict else 0


def _fate(searched: Searched, hit: Hit, *, taken: dict[str, Hit], shown: frozenset[str]) -> Fate:
    verdict, fact = searched.verdict, key(hit.fact.text)
    if verdict is None:
        return "unjudged"
    if all(kept.id != hit.id for kept in verdict.keep):
        return "dropped"
    if verdict.score < MIN_SCORE:
        return "weak-query"
    if fact in taken:
        return "duplicate"
    return "shown" if fact in shown else "injected"
