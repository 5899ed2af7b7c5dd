"""When queued writes are sent: gathered, now and then, at the end, always within bounds."""

from __future__ import annotations

import asyncio

import pytest

from hindsight_core.config.profiles import PROFILES
from hindsight_core.config.settings import Queue
from hindsight_core.engine.flushing import Flushing
from hindsight_core.errors import BankError
from hindsight_core.memory import Document
from hindsight_core.state.outbox import Outbox
from hindsight_core.state.queue import Queue as WriteQueue
from hindsight_core.testing.clock import FakeClock
from hindsight_core.testing.memory_bank import FakeBank


@pytest.fixture
def queue(tmp_path):
    made = WriteQueue(tmp_path / "queue.db", FakeClock())
    yield made
    made.close()


async def test_a_flush_comes_again_with_its_bounds():
    seen, twice = [], asyncio.Event()

    async def drain(deadline_s: float, most: int) -> None:
        seen.append((deadline_s, most))
        if len(seen) == 2:
            twice.set()

    settings = Queue(flush_interval_ms=1, flush_timeout_ms=2000, flush_max_jobs=3)
    flushing = Flushing(settings, drain)
    flushing.start()
    await asyncio.wait_for(twice.wait(), timeout=5)
    await flushing.stop()

    assert seen[:2] == [(2.0, 3), (2.0, 3)]


async def test_without_an_interval_there_is_none():
    async def drain(deadline_s: float, most: int) -> None:
        raise AssertionError

    flushing = Flushing(Queue(), drain)
    flushing.start()
    await asyncio.sleep(0.01)
    await flushing.stop()


def test_the_bounds_of_s1enhanced():
    settings = Queue.model_validate(PROFILES["s1enhanced"]["queue"])
    assert (settings.flush_max_jobs, settings.flush_timeout_ms) == (1, 2000)
    assert (settings.shutdown_max_jobs, settings.shutdown_timeout_ms) == (10, 2000)
    assert settings.flush_interval_ms == 0


async def test_gathered_writes_wait_for_each_other_and_a_note_does_not(queue):
    bank, outbox = FakeBank("b"), Outbox(queue, FakeClock(), gather=3)
    first = await outbox.store(bank, Document("d1", "one"))
    assert (first.outcome, first.reason) == ("queued", None)
    assert bank.documents == {}

    note = await outbox.store(bank, Document("note", "kept on purpose", explicit=True))
    assert note.outcome == "stored"

    await outbox.store(bank, Document("d2", "two"))
    await outbox.store(bank, Document("d3", "three"))
    assert await queue.pending("b") == 0
    assert {"d1", "d2", "d3"} <= set(bank.documents)


async def test_what_the_bank_refused_before_keeps_its_reason(queue):
    bank = FakeBank("b")
    bank.failing = BankError("connection refused")
    outbox = Outbox(queue, FakeClock())
    assert (await outbox.store(bank, Document("d1", "one"))).outcome == "queued"
    assert (await queue.counts("b")).last_error == "connection refused"
