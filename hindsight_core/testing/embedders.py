"""An embedder without a model: words hashed into a vector, for tests only."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Sequence
from typing import Literal

_WORD = re.compile(r"\w+")


def hash_vector(text: str, dimensions: int = 64) -> list[float]:
    """A unit vector in which texts with common words are near each other."""
    vector = [0.0] * dimensions
    for word in _WORD.findall(text.lower()):
        digest = hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=8).digest()
        number = int.from_bytes(digest, "big")
        vector[number % dimensions] += 1.0 if number >> 63 else -1.0
    length = math.sqrt(sum(value * value for value in vector))
    return [value / length for value in vector] if length else [1.0] + [0.0] * (dimensions - 1)


class HashEmbedder:
    """Implements `hindsight_core.providers.base.Embedder`; finds shared words, not meaning.

    Attributes:
        calls: Texts of each call, in order.
    """

    def __init__(self, dimensions: int = 64, *, identity: str | None = None) -> None:
        self.identity = identity or f"testing/hash:{dimensions}"
        self.dimensions: int | None = dimensions
        self.calls: list[tuple[str, ...]] = []
        self._size = dimensions

    async def embed(
        self, texts: Sequence[str], *, kind: Literal["query", "document"]
    ) -> list[list[float]]:
        """One vector a text; the kind makes no difference."""
        self.calls.append(tuple(texts))
        return [hash_vector(text, self._size) for text in texts]
