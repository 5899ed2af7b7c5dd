"""Active memory over a fake bank, a real side table and a fake clock."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hindsight_core.config.settings import Settings
from hindsight_core.identity import fact_id
from hindsight_core.memorize.lifecycle.keeper import Keeper
from hindsight_core.memory import Fact
from hindsight_core.state.feedback_tokens import FeedbackTokens
from hindsight_core.state.lives import LifeRecords
from hindsight_core.state.state_schema import STATE_SCHEMA
from hindsight_core.storage import Database
from hindsight_core.testing.clock import FakeClock
from hindsight_core.testing.memory_bank import FakeBank


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(datetime(2026, 1, 1, 23, 0, tzinfo=UTC))


@pytest.fixture
def settings() -> Settings:
    return Settings.model_validate({"lifecycle": {"enabled": True}})


@pytest.fixture
def bank(clock) -> FakeBank:
    return FakeBank("shop", clock=clock)


@pytest.fixture
def events() -> list[tuple[str, Mapping[str, object]]]:
    return []


@pytest.fixture
def make_keeper(tmp_path: Path, clock, settings, bank, events):
    database = Database(tmp_path / "state.db", STATE_SCHEMA)

    def make(given: Settings = settings) -> Keeper:
        return Keeper(
            bank=bank,
            records=LifeRecords(database, clock),
            tokens=FeedbackTokens(database, clock),
            settings=given,
            clock=clock,
            sink=lambda name, fields: events.append((name, fields)),
        )

    yield make
    database.close()


@pytest.fixture
def keeper(make_keeper) -> Keeper:
    return make_keeper()


@pytest.fixture
def put(bank: FakeBank):
    async def add(text: str, **changes: object) -> str:
        await bank.import_facts([Fact(**{"id": fact_id(text), "text": text, **changes})])
        return fact_id(text)

    return add
