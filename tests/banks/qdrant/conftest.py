from __future__ import annotations

import pytest

from hindsight_core.banks.qdrant import open_qdrant
from hindsight_core.config.settings import Settings
from hindsight_core.services import Services
from hindsight_core.testing import HashEmbedder
from hindsight_core.testing.clock import FakeClock
from hindsight_core.testing.qdrant import QdrantDouble


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def server():
    double = QdrantDouble()
    yield double
    double.close()


@pytest.fixture
def open_bank(server, tmp_path, clock):
    """Open banks on the double, each call as a process of its own."""

    def open_one(bank_id="shop", *, machine="here", embedder=None, **section):
        return open_qdrant(
            Settings.model_validate({"qdrant": section}),
            Services(clock=clock, embedder=embedder or HashEmbedder(1024)),
            bank_id=bank_id,
            side=tmp_path / machine / f"{bank_id}.qdrant",
            transport=server.transport,
        )

    return open_one
