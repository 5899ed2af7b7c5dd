"""What a session puts in order when it begins, and under which name it is written."""

from __future__ import annotations

import asyncio

import pytest

from hindsight_core.engine.upkeep import Upkeep
from hindsight_core.memory import Document, Fact
from hindsight_core.state.review import ReviewQueue, Written
from hindsight_core.testing.clock import FakeClock
from hindsight_core.testing.session import live_session


class Elsewhere:
    """A bank that is no file."""

    id = "plugin-test"
    backend = "memory"

    def __init__(self) -> None:
        self.ensured = 0

    async def ensure(self) -> None:
        self.ensured += 1

    async def close(self) -> None:
        pass


async def tidied(runtime, **more) -> None:
    upkeep = Upkeep(runtime, **{"watched": False, **more})
    upkeep.start()
    upkeep.start()
    await upkeep.finished()


@pytest.mark.spec("pi/W-06", "pi/S-01")
@pytest.mark.parametrize("watched", [True, False])
def test_a_bank_with_missions_is_made_sure_of_once_a_session(memory, watched):
    bank = Elsewhere()
    memory.runtime._banks[memory.runtime.bank_id] = bank
    memory.run(tidied(memory.runtime, watched=watched))
    assert bank.ensured == (0 if watched else 1)


def test_a_process_that_goes_on_with_a_session_tidies_nothing_up(memory):
    bank = Elsewhere()
    memory.runtime._banks[memory.runtime.bank_id] = bank

    async def goes_on() -> None:
        upkeep = Upkeep(memory.runtime, watched=False)
        upkeep.start("reload")
        await upkeep.finished()

    memory.run(goes_on())
    assert bank.ensured == 0


@pytest.mark.spec("pi/Q-05", "pi/Q-08")
def test_old_records_go_and_reviews_expire(new_memory):
    clock = FakeClock()
    memory = new_memory(clock=clock)
    runtime = memory.runtime
    reviews = ReviewQueue(runtime.queue, clock)

    async def past() -> None:
        await runtime.sessions.set_summary(runtime.bank_id, "old", "a summary")
        document = Document("d1", "- A is B.", facts=(Fact("f", "A is B."),))
        await runtime.outbox.store(runtime.bank, document)
        await reviews.add(Written(runtime.bank_id, "d1"))

    memory.run(past())
    clock.advance(days=400)
    memory.run(tidied(runtime))
    assert memory.run(runtime.sessions.summary(runtime.bank_id, "old")) is None
    assert memory.run(reviews.count()) == 0
    assert [fact.text for fact in memory.facts()] == ["A is B."]


def test_trouble_with_it_ends_at_the_step(memory):
    class Broken(Elsewhere):
        async def ensure(self) -> None:
            raise RuntimeError("third party")

    memory.runtime._banks[memory.runtime.bank_id] = Broken()
    memory.run(tidied(memory.runtime))


def test_a_session_that_ends_does_not_wait_for_it(memory):
    class Slow(Elsewhere):
        async def ensure(self) -> None:
            await asyncio.Event().wait()

    memory.runtime._banks[memory.runtime.bank_id] = Slow()

    async def work() -> None:
        upkeep = Upkeep(memory.runtime, watched=False)
        await upkeep.stop()
        upkeep.start()
        await asyncio.sleep(0)
        await upkeep.stop()

    memory.run(work())


@pytest.mark.spec("pi/D-16")
def test_a_session_id_that_holds_a_secret_is_written_nowhere(memory):
    secret = "AK" + "IA" + "Z7Q4" * 4
    live = live_session(memory.runtime, session_id=f"run-{secret}")
    assert secret not in live.opening.session.id
    same = live_session(memory.runtime, session_id=f"run-{secret}")
    assert same.opening.session.id == live.opening.session.id
    assert live_session(memory.runtime, session_id="s-1").opening.session.id == "s-1"
