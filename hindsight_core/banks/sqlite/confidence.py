"""How likely it is that a search found something of use, 0..1, so that silence is possible.

A logistic model of three things about the best hits: how much of the question's weight they
hold, how much matched in all, and whether the names that were asked for are in any of them; with
vectors of a fourth, how far the nearest fact stands out from the rest of the bank. The
weights were fitted on a development set of coding questions, 90 % of them with an answer, and
moved to even odds: 0.5 is where an answer and its absence are equally likely.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hindsight_core.banks.sqlite.analysis import Analysis
from hindsight_core.banks.sqlite.fusion import NO_VECTORS
from hindsight_core.banks.sqlite.lexicon import rarity
from hindsight_core.banks.sqlite.ranking import Score

# A name may stand in another of the best hits than the first.
_NAMED_IN = 3
_CONSTANT = -2.7
_COVERAGE = 1.65
_MATCH = 5.0
_NAMES_MISSING = -3.6
_STANDS_OUT = 1.0
# Of fewer facts nobody can say what is near.
_ENOUGH = 20
# The least share of the search's confidence that its weakest hit has.
_LEAST = 0.25
_STALE = 0.5


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for a search having found something, for ``explain``."""

    coverage: float
    match: float
    names_missing: float
    stands_out: float = 0.0

    @property
    def confidence(self) -> float:
        """Probability at even odds."""
        logit = (
            _CONSTANT
            + _COVERAGE * self.coverage
            + _MATCH * math.log1p(self.match)
            + _NAMES_MISSING * self.names_missing
            + _STANDS_OUT * self.stands_out
        )
        return 1 / (1 + math.exp(-logit))


def evidence(
    scores: Sequence[Score], analysis: Analysis, nearness: Mapping[int, float] = NO_VECTORS
) -> Evidence:
    """Evidence in the best scores of a search, and in the cosines of all facts."""
    names = analysis.names
    missing = [name for name in names if not any(name & s.stems for s in scores[:_NAMED_IN])]
    return Evidence(
        coverage=max((s.coverage for s in scores[:1]), default=0.0),
        match=max((s.words for s in scores[:1]), default=0.0) / rarity(0, analysis.size),
        names_missing=len(missing) / len(names) if names else 0.0,
        stands_out=_stands_out(nearness) if scores else 0.0,
    )


def _stands_out(nearness: Mapping[int, float]) -> float:
    """Deviations by which the nearest fact is nearer than the nearest of so many by chance."""
    count = len(nearness)
    if count < _ENOUGH:
        return 0.0
    cosines = nearness.values()
    mean = sum(cosines) / count
    deviation = math.sqrt(sum((near - mean) ** 2 for near in cosines) / count)
    if deviation == 0:
        return 0.0
    # What the largest of so many normal values is on average.
    usual = math.sqrt(2 * math.log(count))
    usual -= (math.log(math.log(count)) + math.log(4 * math.pi)) / (2 * usual)
    return (max(cosines) - mean) / deviation - usual


def confidences(scores: Sequence[Score], whole: Evidence) -> list[float]:
    """One value a score, in order: the search's confidence, less for weaker hits."""
    best = max((s.rank for s in scores), default=0.0) or 1.0
    return [
        whole.confidence
        * (_LEAST + (1 - _LEAST) * s.rank / best)
        * (_STALE if s.replaced_by is not None else 1.0)
        for s in scores
    ]
