"""The bank that tests use keeps the rules of every bank too."""

from __future__ import annotations

import pytest

from hindsight_core.testing.banks import BankContract, FakeBank


class TestFakeBank(BankContract):
    @pytest.fixture
    def bank(self):
        return FakeBank("shop")
