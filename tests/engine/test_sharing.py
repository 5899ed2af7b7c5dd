"""Facts that came with the repository, at the begin of a session."""

from __future__ import annotations

import asyncio
import os
from contextlib import asynccontextmanager

import pytest

from hindsight_core.configure import configure
from hindsight_core.engine import sharing
from hindsight_core.engine.notices import Notices
from hindsight_core.engine.sharing import Sharing, sync_of
from hindsight_core.memory import Document, Fact
from hindsight_core.runtime import Runtime
from hindsight_core.state.review import ReviewQueue, Written

FACT = "Tests are run by tox"


@pytest.fixture
def shop(tmp_path):
    root = tmp_path / "shop"
    (root / ".git").mkdir(parents=True)
    (root / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (root / ".hindsight/facts").mkdir(parents=True)
    (root / ".hindsight/facts/tox.md").write_text(FACT + "\n")
    return root


@pytest.fixture(autouse=True)
def _patient(monkeypatch):
    monkeypatch.setattr(sharing, "FIRST_TURN_S", 30)


@asynccontextmanager
async def opened(root, *, trusted=True):
    loaded, hooks = configure(cwd=root, env=os.environ, host="generic", trusted=trusted)
    runtime = Runtime(loaded, hooks=hooks)
    try:
        yield runtime
    finally:
        await runtime.close()


async def begin(runtime):
    """A session's begin, waited for; what the user was told."""
    told = []
    part = Sharing(runtime, Notices(lambda level, text: told.append(text)))
    part.start()
    await part.ready()
    await part.stop()
    return told


async def texts(runtime):
    return [fact.text for fact in (await runtime.bank.list_facts()).facts]


async def test_they_are_taken_over_where_the_project_is_trusted(shop):
    async with opened(shop) as runtime:
        assert await begin(runtime) == []
        assert await texts(runtime) == [FACT]
        assert [entry["taken"] for entry in runtime.log.read(type="share")] == [1]


async def test_and_the_user_is_told_where_it_is_not(shop):
    async with opened(shop, trusted=False) as runtime:
        [told] = await begin(runtime)
        assert "hindsight-mem trust" in told
        assert await texts(runtime) == []


async def test_an_unchanged_folder_is_not_read_again(shop):
    async with opened(shop) as runtime:
        await begin(runtime)
        await runtime.bank.delete_fact((await runtime.bank.list_facts()).facts[0].id)
        await begin(runtime)
        assert await texts(runtime) == []


async def test_a_secret_in_a_file_does_not_reach_the_bank(shop):
    secret = "ghp_" + "A1b2C3d4E5" * 4
    (shop / ".hindsight/facts/key.md").write_text(f"The deploy token is {secret}\n")
    async with opened(shop) as runtime:
        await begin(runtime)
        assert len(await texts(runtime)) == 2
        assert secret not in str(await texts(runtime))


async def test_what_waits_for_a_review_is_not_shared(shop):
    document = Document("d1", "", facts=(Fact("f1", "Said by itself"),))
    async with opened(shop) as runtime:
        await runtime.bank.retain(document)
        await runtime.bank.import_facts([Fact("f2", "Asked for")])
        queue = ReviewQueue(runtime.queue, runtime.clock)
        await queue.add(Written(runtime.bank_id, "d1"))
        report = await (await sync_of(runtime, shop)).run(trusted=True, removed=lambda names: ())
        assert (report.written, report.held) == (["f2"], 1)
        await queue.decide(await queue.pending(), "approved", by="person")
        report = await (await sync_of(runtime, shop)).run(trusted=True, removed=lambda names: ())
        assert (report.written, report.held) == (["f1"], 0)


async def test_a_session_that_ends_goes_on_next_time(shop, monkeypatch):
    monkeypatch.setattr("hindsight_core.sharing.taking.BATCH", 1)
    for number in range(6):
        (shop / f".hindsight/facts/{number}.md").write_text(f"Service {number} has port {number}\n")
    async with opened(shop) as runtime:
        work = await sync_of(runtime, shop)
        imported = runtime.bank.import_facts
        calls = []

        async def tired(facts):
            calls.append(facts)
            if len(calls) > 3:
                raise asyncio.CancelledError
            return await imported(facts)

        work.bank.import_facts = tired
        with pytest.raises(asyncio.CancelledError):
            await work.take_in()
        work.bank.import_facts = imported
        again = await sync_of(runtime, shop)
        assert (len(again.baseline.facts), again.baseline.signature) == (3, "")
        assert len((await again.take_in()).taken) == 4
        assert len(await texts(runtime)) == 7


async def test_a_turn_waits_once_and_not_for_long(shop, monkeypatch):
    monkeypatch.setattr(sharing, "FIRST_TURN_S", 0.01)
    async with opened(shop) as runtime:
        part = Sharing(runtime, Notices(lambda level, text: None))
        never = asyncio.Event()
        part._task = asyncio.create_task(never.wait())
        await part.ready()
        monkeypatch.setattr(sharing, "FIRST_TURN_S", 60)
        await part.ready()
        await part.stop()


async def test_a_folder_that_is_not_there_costs_nothing(shop):
    (shop / ".hindsight/facts/tox.md").unlink()
    (shop / ".hindsight/facts").rmdir()
    async with opened(shop) as runtime:
        part = Sharing(runtime, Notices(lambda level, text: None))
        part.start()
        assert part._task is None
