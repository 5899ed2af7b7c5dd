"""What a bank factory gives: a bank as it is, a vector store with the adapter around it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from hindsight_core.banks.base import Bank, VectorBank
from hindsight_core.errors import ConfigError

if TYPE_CHECKING:
    from hindsight_core.services import Services


def as_bank(found: object, services: Services, *, backend: str, banks_dir: Path) -> Bank:
    """A whole bank of what a factory gave.

    Args:
        found: A `Bank` or a `VectorBank`.
        services: With an embedder, for a vector store.
        backend: Name under which the factory is registered.
        banks_dir: Where side tables are.

    Raises:
        ConfigError: It is a vector store, and there is no embedder.
    """
    if isinstance(found, Bank) or not isinstance(found, VectorBank):
        return cast("Bank", found)
    if services.embedder is None:
        raise ConfigError(
            f"the bank {backend} finds facts by vectors and needs an embedder: set "
            "embeddings.provider and embeddings.model"
        )
    from hindsight_core.banks.sqlite import bank_path
    from hindsight_core.banks.vector.adapter import VectorAdapter

    side = bank_path(banks_dir, found.id).with_suffix(f".{backend}")
    return VectorAdapter(found, services.embedder, side=side, clock=services.clock, backend=backend)
