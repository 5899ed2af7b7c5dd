"""A bank in a collection of a Qdrant server."""

from __future__ import annotations

from hindsight_core.banks.qdrant.opening import open_qdrant, side_path
from hindsight_core.banks.qdrant.store import QdrantStore

__all__ = ["QdrantStore", "open_qdrant", "side_path"]
