"""A plain vector store with our adapter keeps the rules of every bank."""

from __future__ import annotations

import pytest

from hindsight_core.banks.vector import VectorAdapter
from hindsight_core.testing import HashEmbedder
from hindsight_core.testing.banks import BankContract
from hindsight_core.testing.vector_store import MemoryVectors


class TestVectorAdapter(BankContract):
    @pytest.fixture
    async def bank(self, tmp_path):
        bank = VectorAdapter(MemoryVectors("shop"), HashEmbedder(1024), side=tmp_path / "side.db")
        yield bank
        await bank.close()
