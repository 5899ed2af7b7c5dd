"""How likely it is that a search found something of use, 0..1, so that silence is possible.

A logistic model of three things about the best hits: how much of the question's weight they
hold, how much matched in all, and whether the names that were asked for are in any of them. The
weights were fitted on a development set of coding questions, 90 % of them with an answer, and
moved to even odds: 0.5 is where an answer and its absence are equally likely.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hindsight_core.banks.sqlite.analysis import Analysis
from hindsight_core.banks.sqlite.lexicon import rarity
from hindsight_core.banks.sqlite.ranking import Score

FLOOR = 0.3
# A name may stand in another of the best hits than the first.
_NAMED_IN = 3
_CONSTANT = -2.7
_COVERAGE = 1.65
_MATCH = 5.0
_NAMES_MISSING = -3.6
# The least share of the search's confidence that its weakest hit has.
_LEAST = 0.25
_STALE = 0.5


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for a search having found something, for ``explain``."""

    coverage: float
    match: float
    names_missing: float

    @property
    def confidence(self) -> float:
        """Probability at even odds."""
        logit = (
            _CONSTANT
            + _COVERAGE * self.coverage
            + _MATCH * math.log1p(self.match)
            + _NAMES_MISSING * self.names_missing
        )
        return 1 / (1 + math.exp(-logit))


def evidence(scores: Sequence[Score], analysis: Analysis) -> Evidence:
    """Evidence in the best scores of a search."""
    names = analysis.names
    missing = [name for name in names if not any(name & s.stems for s in scores[:_NAMED_IN])]
    return Evidence(
        coverage=max((s.coverage for s in scores[:1]), default=0.0),
        match=max((s.words for s in scores[:1]), default=0.0) / rarity(0, analysis.size),
        names_missing=len(missing) / len(names) if names else 0.0,
    )


def confidences(scores: Sequence[Score], whole: Evidence) -> list[float]:
    """One value a score, in order: the search's confidence, less for weaker hits."""
    best = max((s.rank for s in scores), default=0.0) or 1.0
    return [
        whole.confidence
        * (_LEAST + (1 - _LEAST) * s.rank / best)
        * (_STALE if s.replaced_by is not None else 1.0)
        for s in scores
    ]
