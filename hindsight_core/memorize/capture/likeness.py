"""How alike two memories are: by their vectors, or by their words where there are none."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hindsight_core.errors import ProviderError
from hindsight_core.memorize.lexicon import content_stems
from hindsight_core.memorize.similar import relation

if TYPE_CHECKING:
    from hindsight_core.embedding import Vector
    from hindsight_core.providers.base import Embedder

logger = logging.getLogger("hindsight_core.memorize")
# The thresholds are for cosines of vectors; sentences that say the same share fewer words.
BY_WORDS = 0.6


class Likeness:
    """Compares memories.

    Args:
        embedder: The configured one; None compares words.
    """

    def __init__(self, embedder: Embedder | None) -> None:
        self._embedder = embedder

    async def to(self, text: str, others: Sequence[str]) -> tuple[list[float], float]:
        """Likeness of each other text to this one, and the factor for thresholds."""
        vectors, factor = await self.vectors([text, *others])
        if vectors is not None:
            return [cosine(vectors[0], vector) for vector in vectors[1:]], factor
        return [by_words(text, other) for other in others], factor

    async def vectors(self, texts: Sequence[str]) -> tuple[list[Vector] | None, float]:
        """Their vectors, or None where words have to do; and the factor for thresholds."""
        found = await self._vectors(texts)
        return found, BY_WORDS if found is None else 1.0

    async def _vectors(self, texts: Sequence[str]) -> list[Vector] | None:
        if self._embedder is None or not texts:
            return None
        from hindsight_core.embedding import guarded

        try:
            return await guarded(self._embedder).embed(texts, kind="document")
        except ProviderError as error:
            logger.info("no vectors, words are compared: %s", error)
            return None


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """-1..1; -1 for vectors of different lengths or none, 0 for one without a length."""
    if len(one) != len(other) or not one:
        return -1.0
    norms = math.sqrt(_product(one, one) * _product(other, other))
    return _product(one, other) / norms if norms else 0.0


def by_words(text: str, other: str) -> float:
    """0..1: 1 for the same statement or another value of the same thing, else shared words."""
    if relation(text, other) != "different":
        return 1.0
    return shared(content_stems(text), content_stems(other))


def shared(one: frozenset[str], other: frozenset[str]) -> float:
    """0..1: how many of their words two statements have in common."""
    return len(one & other) / math.sqrt(len(one) * len(other)) if one and other else 0.0


def _product(one: Sequence[float], other: Sequence[float]) -> float:
    return math.fsum(a * b for a, b in zip(one, other, strict=True))
