"""A bank in a Qdrant collection keeps the rules of every bank.

Against a double, not a server: see `hindsight_core.testing.qdrant` for what is real in it.
"""

from __future__ import annotations

import pytest

from hindsight_core.banks.qdrant import open_qdrant
from hindsight_core.config.settings import Settings
from hindsight_core.services import Services
from hindsight_core.testing import HashEmbedder
from hindsight_core.testing.banks import BankContract
from hindsight_core.testing.qdrant import QdrantDouble


class TestQdrantBank(BankContract):
    @pytest.fixture
    async def bank(self, tmp_path):
        double = QdrantDouble()
        bank = open_qdrant(
            Settings(),
            Services(embedder=HashEmbedder(1024)),
            bank_id="shop",
            side=tmp_path / "shop.qdrant",
            transport=double.transport,
        )
        yield bank
        await bank.close()
        double.close()
