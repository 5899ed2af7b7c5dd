"""Makes a whole bank of a vector store and an embedder."""

from __future__ import annotations

from hindsight_core.banks.vector.adapter import VectorAdapter
from hindsight_core.banks.vector.shared import Record, SharedVectorBank

__all__ = ["Record", "SharedVectorBank", "VectorAdapter"]
