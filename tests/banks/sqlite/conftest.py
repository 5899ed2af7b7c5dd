"""An embedded bank for each test."""

from __future__ import annotations

import pytest

from hindsight_core.banks.sqlite import SqliteBank
from hindsight_core.memory import Query


@pytest.fixture
async def open_bank(tmp_path):
    """Open a bank of this folder; all are closed at the end."""
    opened = []

    def make(bank_id="shop", **options):
        opened.append(SqliteBank(bank_id, tmp_path / f"{bank_id}.db", **options))
        return opened[-1]

    yield make
    for bank in opened:
        await bank.close()


@pytest.fixture
def bank(open_bank):
    return open_bank()


@pytest.fixture
def found():
    """Texts that a search gives, best first."""

    async def search(bank, text, **values):
        return [hit.fact.text for hit in await bank.recall(Query(text, **values))]

    return search
