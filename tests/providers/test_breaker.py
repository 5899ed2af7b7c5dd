from __future__ import annotations

import asyncio

import pytest

from hindsight_core.errors import BreakerOpen, ProviderError
from hindsight_core.providers.breaker import MAX_PAUSE_S, Breaker
from hindsight_core.testing.clock import FakeClock


@pytest.fixture
def breaker(clock: FakeClock) -> Breaker:
    return Breaker("bank shop", clock=clock)


def fail(breaker: Breaker, times: int) -> None:
    for _ in range(times):
        breaker.check()
        breaker.failure("refused")


def test_three_failures_in_a_row_open_it(breaker: Breaker) -> None:
    fail(breaker, 2)
    breaker.check()
    breaker.success()
    fail(breaker, 2)
    assert breaker.state == "closed"
    fail(breaker, 1)
    assert breaker.state == "open"
    with pytest.raises(BreakerOpen, match=r"bank shop .* 30 s.* failed 3 times in a row: refused"):
        breaker.check()


@pytest.mark.spec("br/BR-53")
def test_failures_are_kept_for_seconds_only(breaker: Breaker, clock: FakeClock) -> None:
    fail(breaker, 3)
    clock.advance(29)
    with pytest.raises(BreakerOpen):
        breaker.check()
    clock.advance(1)
    assert breaker.state == "half-open"
    breaker.check()
    breaker.success()
    assert breaker.state == "closed"
    breaker.check()


def test_half_open_lets_one_call_through(breaker: Breaker, clock: FakeClock) -> None:
    fail(breaker, 3)
    clock.advance(30)
    breaker.check()
    with pytest.raises(BreakerOpen, match="being tried by another call"):
        breaker.check()
    breaker.failure("still refused")
    assert breaker.state == "open"
    clock.advance(30)
    breaker.check()


def test_a_cancelled_probe_lets_the_next_call_try(breaker: Breaker, clock: FakeClock) -> None:
    fail(breaker, 3)
    clock.advance(30)
    breaker.check()
    breaker.abandon()
    breaker.check()


def test_a_pause_is_bounded(breaker: Breaker, clock: FakeClock) -> None:
    breaker.pause(10**9, "asked to wait until 2099")
    clock.advance(MAX_PAUSE_S - 1)
    with pytest.raises(BreakerOpen, match="asked for a pause"):
        breaker.check()
    clock.advance(1)
    breaker.check()


def test_a_clock_that_goes_back_does_not_keep_it_open(breaker: Breaker, clock: FakeClock) -> None:
    fail(breaker, 3)
    clock.advance(-3600)
    breaker.check()


async def test_call_counts_results_errors_and_cancels(breaker: Breaker) -> None:
    async def good() -> str:
        return "fine"

    async def bad() -> str:
        raise ProviderError("down")

    assert await breaker.call(good) == "fine"
    for _ in range(3):
        with pytest.raises(ProviderError, match="down"):
            await breaker.call(bad)
    with pytest.raises(BreakerOpen):
        await breaker.call(good)


async def test_a_cancel_is_no_failure(breaker: Breaker) -> None:
    async def hang() -> None:
        await asyncio.Event().wait()

    for _ in range(4):
        task = asyncio.create_task(breaker.call(hang))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert breaker.state == "closed"
