"""Words and vectors together: both scores on one scale, per query, then a weighted sum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from hindsight_core.banks.sqlite.ranking import Score

NO_VECTORS: Mapping[int, float] = MappingProxyType({})
# Ranks of both lists, equally weighted, would cost recall against words alone. What the words of
# the question do not find, in a paraphrase or another language, only the vectors can.
_WEIGHT = 0.4
_FOR_MISSING_WORDS = 1.5


def fused(scores: Sequence[Score], nearness: Mapping[int, float]) -> list[Score]:
    """Scores with both in their rank; unchanged without vectors."""
    if not nearness or not scores:
        return list(scores)
    words = _scaled([score.words for score in scores])
    missing = 1 - max(scores, key=lambda score: score.words).coverage
    weight = _WEIGHT + _FOR_MISSING_WORDS * missing
    lowest = min(nearness.values())
    near = _scaled([nearness.get(score.row, lowest) for score in scores])
    return [
        replace(score, rank=w + weight * n) for score, w, n in zip(scores, words, near, strict=True)
    ]


def _scaled(values: Sequence[float]) -> list[float]:
    low, high = min(values), max(values)
    return [(value - low) / (high - low) if high > low else 0.0 for value in values]
