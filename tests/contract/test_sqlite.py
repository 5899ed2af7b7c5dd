"""The embedded bank keeps the rules of every bank."""

from __future__ import annotations

import pytest

from hindsight_core.banks.sqlite import SqliteBank
from hindsight_core.testing.banks import BankContract


class TestSqliteBank(BankContract):
    @pytest.fixture
    async def bank(self, tmp_path):
        bank = SqliteBank("shop", tmp_path / "shop.db")
        yield bank
        await bank.close()
