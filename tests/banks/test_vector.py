"""A vector store from a plugin becomes a bank; over a plain one the side table is all there is."""

from __future__ import annotations

import pytest

from hindsight_core.banks.base import Bank
from hindsight_core.banks.vector import as_bank
from hindsight_core.config.layers import load
from hindsight_core.errors import BankError, ConfigError
from hindsight_core.hookspecs import hookimpl
from hindsight_core.memory import Query
from hindsight_core.plugins import load_hooks
from hindsight_core.runtime import Runtime
from hindsight_core.services import Services
from hindsight_core.testing import HashEmbedder
from hindsight_core.testing.banks import FakeBank, document, fact, found
from hindsight_core.testing.vector_store import MemoryVectors

OLD, NEW = "The queue prefetch is 20", "The queue prefetch is 50"


@pytest.fixture
def store():
    return MemoryVectors("shop")


@pytest.fixture
def open_bank(store, tmp_path):
    def open_one(embedder=None):
        services = Services(embedder=embedder or HashEmbedder(1024))
        return as_bank(store, services, backend="memory", banks_dir=tmp_path)

    return open_one


async def test_a_plugin_registers_a_store_and_gets_a_bank(tmp_path):
    class Plugin:
        @hookimpl
        def hindsight_register_banks(self, register):
            register("memory", lambda settings, services: MemoryVectors(settings.bank.id))

        @hookimpl
        def hindsight_register_embedders(self, register):
            register("hash", lambda settings, services: HashEmbedder(1024))

    chosen = {"bank": {"id": "shop", "backend": "memory"}, "embeddings": {"provider": "hash"}}
    hooks = load_hooks(env={}, builtins=(Plugin(),))
    runtime = Runtime(load(cwd=tmp_path, overrides=chosen), hooks=hooks)
    assert isinstance(runtime.bank, Bank)
    assert (runtime.bank.id, runtime.bank.backend) == ("shop", "memory")
    await runtime.bank.retain(document("d1", OLD))
    assert await found(runtime.bank, "queue prefetch") == [OLD]
    await runtime.close()


def test_without_an_embedder_it_says_what_to_set(store, tmp_path):
    with pytest.raises(ConfigError, match=r"bank memory .*embeddings\.provider"):
        as_bank(store, Services(), backend="memory", banks_dir=tmp_path)


def test_a_bank_stays_as_it_is(tmp_path):
    bank = FakeBank()
    assert as_bank(bank, Services(), backend="fake", banks_dir=tmp_path) is bank


async def test_the_side_table_outlives_the_process_and_holds_no_text(open_bank, tmp_path):
    bank = open_bank()
    await bank.import_facts([fact(OLD)])
    await bank.close()
    again = open_bank()
    assert [f.text for f in (await again.list_facts()).facts] == [OLD]
    await again.close()
    files = list(tmp_path.glob("shop.memory*"))
    assert files
    assert not any(b"prefetch" in path.read_bytes() for path in files)


async def test_another_embedder_is_refused(open_bank):
    await open_bank().retain(document("d1", OLD))
    other = open_bank(HashEmbedder(1024, identity="other/model"))
    with pytest.raises(BankError, match=r"testing/hash:1024.*other/model"):
        await other.recall(Query("prefetch"))


async def test_a_write_that_broke_off_is_made_good_by_the_same_write(open_bank, store):
    bank, told = open_bank(), document("d1", OLD, NEW)
    add = store.add

    async def breaks(facts, vectors):
        await add(facts[:1], vectors[:1])
        raise BankError("the store has gone")

    store.add = breaks
    with pytest.raises(BankError, match="gone"):
        await bank.retain(told)
    assert ((await bank.stats()).facts, len(store.facts)) == (0, 1)
    store.add = add
    await bank.retain(told)
    assert ((await bank.stats()).facts, len(store.facts)) == (2, 2)
    assert [f.text for f in (await bank.get_document("d1")).facts] == [OLD, NEW]


async def test_retired_facts_of_a_careless_store_are_left_out(open_bank, store):
    bank = open_bank()
    await bank.import_facts([fact(OLD, state="superseded"), fact(NEW)])
    search = store.search

    async def careless(vector, query):
        known = [replaced for replaced, _ in store.facts.values()]
        hits = await search(vector, query)
        return [*(type(hits[0])(f, "other", 0.9) for f in known if f.text == OLD), *hits]

    store.search = careless
    [hit] = await bank.recall(Query("queue prefetch"))
    assert (hit.fact.text, hit.bank) == (NEW, "shop")


async def test_a_blank_query_finds_nothing_and_embeds_nothing(open_bank):
    embedder = HashEmbedder(1024)
    assert await open_bank(embedder).recall(Query(" \n")) == []
    assert embedder.calls == []
