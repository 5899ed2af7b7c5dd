from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hindsight_core.budget import Budget, Meter, estimate_tokens, work
from hindsight_core.config.settings import Settings
from hindsight_core.errors import BudgetExceeded
from hindsight_core.state.usage import UsageStore
from hindsight_core.testing.clock import FakeClock


@dataclass
class FakeSink:
    """Keeps rows in memory, or fails."""

    rows: list[tuple[Any, ...]] = field(default_factory=list)
    broken: bool = False

    async def add(
        self, day: date, stage: str, session: str | None, calls: int, input: int, output: int
    ) -> None:
        if self.broken:
            raise OSError("disk full")
        self.rows.append((day.isoformat(), stage, session, calls, input, output))

    async def total(self, *, day: date | None, session_id: str | None) -> Any:
        if self.broken:
            raise OSError("disk full")
        return SimpleNamespace(
            input_tokens=sum(row[4] for row in self.rows),
            output_tokens=sum(row[5] for row in self.rows),
        )


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def budget(meter: Meter, **limits: int) -> Budget:
    return Budget(meter, Settings.model_validate({"budget": limits}).budget)


def use(meter: Meter, tokens: int, *, session: str | None = None) -> None:
    meter.record("recall/judge", input_tokens=tokens, session_id=session)


async def test_counts_by_stage_and_day_reach_the_sink(clock: FakeClock) -> None:
    sink = FakeSink()
    meter = Meter(clock=clock, sink=sink)
    meter.record("recall/judge", input_tokens=10, output_tokens=2, session_id="S1")
    meter.record("recall/judge", input_tokens=10, output_tokens=2, session_id="S1", failed=True)
    meter.record("memorize/extract", input_tokens=5, estimated=True)
    await meter.close()
    assert sink.rows == [
        ("2025-01-15", "recall/judge", "S1", 2, 20, 4),
        ("2025-01-15", "memorize/extract", None, 1, 5, 0),
    ]
    assert meter.snapshot()["recall/judge"] == {"calls": 2, "inputTokens": 20, "outputTokens": 4}


async def test_the_real_store_takes_the_counts(tmp_path: Path, clock: FakeClock) -> None:
    store = UsageStore(tmp_path / "state.db", clock)
    meter = Meter(clock=clock, sink=store)
    use(meter, 70, session="S1")
    await meter.close()
    again = Meter(clock=clock, sink=store)
    with pytest.raises(BudgetExceeded, match="70 tokens were used today"):
        await budget(again, tokens_per_day=50).check()
    with pytest.raises(BudgetExceeded, match="this session has used 70"):
        await budget(again, tokens_per_session=50).check(session_id="S1")
    await budget(again, tokens_per_session=50).check(session_id="S2")
    store.close()


async def test_a_sink_that_fails_costs_nothing_else(clock: FakeClock) -> None:
    meter = Meter(clock=clock, sink=FakeSink(broken=True))
    use(meter, 60)
    await meter.close()
    with pytest.raises(BudgetExceeded):
        await budget(meter, tokens_per_day=50).check()


def test_recording_works_without_a_loop(clock: FakeClock) -> None:
    meter = Meter(clock=clock, sink=FakeSink())
    use(meter, 1)
    assert meter.stages["recall/judge"].calls == 1


async def test_no_limit_is_no_limit(clock: FakeClock) -> None:
    meter = Meter(clock=clock)
    use(meter, 10**9, session="S1")
    await budget(meter).check(session_id="S1")


async def test_the_day_ends_at_midnight_utc(clock: FakeClock) -> None:
    meter = Meter(clock=clock)
    limited = budget(meter, tokens_per_day=50)
    await limited.check()
    use(meter, 50)
    with pytest.raises(BudgetExceeded, match=r"budget\.tokens_per_day = 50.*commands go on"):
        await limited.check()
    clock.advance(days=1)
    await limited.check()


async def test_a_session_has_its_own_limit(clock: FakeClock) -> None:
    meter = Meter(clock=clock)
    limited = budget(meter, tokens_per_session=50)
    use(meter, 50, session="S1")
    with pytest.raises(BudgetExceeded, match="tokens_per_session"):
        await limited.check(session_id="S1")
    with work(session_id="S1"), pytest.raises(BudgetExceeded):
        await limited.check()
    await limited.check(session_id="S2")
    await limited.check()


async def test_a_turn_has_its_calls(clock: FakeClock) -> None:
    meter = Meter(clock=clock)
    limited = budget(meter, calls_per_turn=2)
    with work(per_turn=True) as turn:
        for _ in range(2):
            await limited.check()
            use(meter, 1)
        assert turn.calls == 2
        with pytest.raises(BudgetExceeded, match="2 model calls"):
            await limited.check()
    with work(per_turn=True):
        await limited.check()
    with work():
        for _ in range(5):
            await limited.check()
            use(meter, 1)


async def test_what_the_user_asked_for_goes_on(clock: FakeClock) -> None:
    meter = Meter(clock=clock)
    limited = budget(meter, tokens_per_day=0, tokens_per_session=0, calls_per_turn=0)
    with work(session_id="S1", explicit=True, per_turn=True):
        await limited.check()


async def test_inner_work_belongs_to_the_outer(clock: FakeClock) -> None:
    meter = Meter(clock=clock)
    limited = budget(meter, tokens_per_session=10, calls_per_turn=1)
    with work(session_id="S1", explicit=True), work(per_turn=True):
        use(meter, 20)
        await limited.check()
    assert meter.sessions == {"S1": 20}
    with work(per_turn=True) as turn:
        with work(), work():
            use(meter, 1)
        assert turn.calls == 1
        with work(), pytest.raises(BudgetExceeded, match="calls_per_turn"):
            await limited.check()


def test_estimates_round_up() -> None:
    assert [estimate_tokens("x" * n) for n in (0, 1, 4, 5)] == [0, 1, 1, 2]


async def test_a_limit_of_ones_own_holds_explicit_work_too(clock: FakeClock) -> None:
    meter = Meter(clock=clock)
    limited = budget(meter)
    with work(explicit=True, limit=100) as unit:
        await limited.check(tokens=100)
        with work(session_id="S1"):
            use(meter, 60)
            await limited.check(tokens=40)
            with pytest.raises(BudgetExceeded, match="60 of the 100"):
                await limited.check(tokens=41)
    assert unit.exhausted
    assert unit.tokens == 60
    await limited.check(tokens=1000)
