from __future__ import annotations

from dataclasses import replace

import pytest

from hindsight_core.config.layers import Project
from hindsight_core.memorize.active import ActiveMemory
from hindsight_core.memorize.lifecycle.place import memory_project
from hindsight_core.memorize.lifecycle.sink import EventSink
from hindsight_core.memory import Fact, Hit
from hindsight_core.state.life import LifeRecord, Told

USER = LifeRecord(Told("user"), confidence=1.0)


@pytest.fixture
def active(keeper):
    def nothing() -> object:
        raise AssertionError("nothing is written")

    return ActiveMemory(
        keeper, project="a", events=EventSink(lambda name, fields: None), writing=nothing
    )


@pytest.mark.spec("am/A-STORE-2")
async def test_a_search_sees_global_memories_and_those_of_its_project(active, keeper):
    records = {
        "everywhere": replace(USER, scope="global"),
        "here": replace(USER, project="a"),
        "elsewhere": replace(USER, project="b"),
        "gone": replace(USER, scope="global"),
    }
    for key, record in records.items():
        await keeper.records.change("shop", [key], lambda _, record=record: lambda held: record)
    scores = {"everywhere": 1.0, "here": 0.9, "elsewhere": 1.0}
    hits = [Hit(Fact(key, key), "shop", score) for key, score in scores.items()]
    found = await active.weigh(hits)
    assert [(item.hit.fact.id, item.score) for item in found] == [
        ("everywhere", 1.0),
        ("here", pytest.approx(0.9)),
    ]


@pytest.mark.spec("am/A-STORE-2")
async def test_only_active_memories_are_found_newest_first(active, keeper, put, bank, clock):
    first = await put("The shop sells tea.")
    clock.advance(60)
    second = await put("The shop bakes cake.")
    clock.advance(60)
    third = await put("The shop is closed.")
    await keeper.retire(third, reason="it is open")
    assert list(await active.active([first, second, third])) == [first, second]
    page = await bank.list_facts(state="valid")
    assert [fact.id for fact in page.facts] == [second, first]


@pytest.mark.spec("am/A-REC-5")
def test_a_project_is_its_remote_wherever_it_is_checked_out(tmp_path):
    def named(folder: str, remote: str | None) -> str:
        return memory_project(Project(tmp_path / folder, folder, trusted=True, remote=remote))

    origin = "git@example.org:shop/shop.git"
    assert named("one", origin) == named("two", f" {origin}\n")
    assert named("one", origin) != named("one", "git@example.org:cafe/cafe.git")
    assert named("one", None) != named("two", None)
    assert len(named("one", None)) == 20
