"""The factory registered as ``qdrant``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from hindsight_core.banks.qdrant.client import Client
from hindsight_core.banks.qdrant.collection import Collection
from hindsight_core.banks.qdrant.store import QdrantStore
from hindsight_core.banks.vector import VectorAdapter
from hindsight_core.errors import ConfigError

if TYPE_CHECKING:
    import httpx

    from hindsight_core.config.settings import Settings
    from hindsight_core.services import Services

_REFUSED = re.compile(r'[<>:"/\\|?*\x00-\x1f]')
_LONGEST = 255


def open_qdrant(
    settings: Settings,
    services: Services,
    *,
    bank_id: str,
    side: Path,
    transport: httpx.AsyncBaseTransport | None = None,
) -> VectorAdapter:
    """The bank of this id; nothing is asked of the server before its first call.

    Args:
        settings: Section ``qdrant``.
        services: With an embedder.
        bank_id: The bank.
        side: File of the side table.
        transport: For tests; None for the network.

    Raises:
        ConfigError: There is no embedder, or no collection can have that name.
    """
    if services.embedder is None:
        raise ConfigError(
            "the qdrant bank finds facts by vectors and needs an embedder: set "
            "embeddings.provider to semantic, or to openai, ollama, onnx or model2vec and "
            "embeddings.model"
        )
    name = settings.qdrant.collection or bank_id
    if _REFUSED.search(name) or len(name.encode()) > _LONGEST:
        raise ConfigError(
            f"no collection can be named {name!r}: set qdrant.collection to a name without "
            'any of < > : " / \\ | ? * and of at most 255 bytes'
        )
    client = Client(settings.qdrant, clock=services.clock, transport=transport)
    store = QdrantStore(bank_id, Collection(client, name), client=client, clock=services.clock)
    return VectorAdapter(
        store, services.embedder, side=side, clock=services.clock, backend="qdrant"
    )


def side_path(banks_dir: Path, bank_id: str) -> Path:
    """The side table of a bank, beside the files of embedded banks."""
    from hindsight_core.banks.sqlite import bank_path

    return bank_path(banks_dir, bank_id).with_suffix(".qdrant")
