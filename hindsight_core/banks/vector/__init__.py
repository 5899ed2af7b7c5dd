"""Makes a whole bank of a vector store and an embedder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hindsight_core.banks.vector.opening import as_bank
from hindsight_core.banks.vector.shared import Record, SharedVectorBank

if TYPE_CHECKING:
    from hindsight_core.banks.vector.adapter import VectorAdapter

__all__ = ["Record", "SharedVectorBank", "VectorAdapter", "as_bank"]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a class
    """The adapter, imported when it is first used: most banks do without it."""
    if name != "VectorAdapter":
        raise AttributeError(name)
    from hindsight_core.banks.vector.adapter import VectorAdapter

    return VectorAdapter
