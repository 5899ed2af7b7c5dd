"""What a bank on a Qdrant server does beyond the rules of every bank."""

from __future__ import annotations

import httpx
import pytest

from hindsight_core.banks.qdrant import open_qdrant, side_path
from hindsight_core.config.settings import Settings
from hindsight_core.errors import BankError, ConfigError, ProviderError
from hindsight_core.identity import fact_id
from hindsight_core.memory import Query, Scope
from hindsight_core.services import Services
from hindsight_core.testing import HashEmbedder
from hindsight_core.testing.banks import document, fact, found

OLD = "The queue prefetch is 20"
NEW = "The queue prefetch is 50"


async def texts(bank):
    return [f.text async for f in bank.export_facts()]


async def test_without_an_embedder_it_says_what_to_set(tmp_path):
    with pytest.raises(ConfigError, match=r"embeddings\.provider"):
        open_qdrant(Settings(), Services(), bank_id="shop", side=tmp_path / "side")


@pytest.mark.parametrize("name", ["a/b", "a?b", "x" * 256])
async def test_a_name_that_no_collection_can_have(open_bank, name):
    with pytest.raises(ConfigError, match=r"qdrant\.collection"):
        open_bank(collection=name)


async def test_nothing_is_asked_before_the_first_call(open_bank, server):
    open_bank()
    assert server.calls == []


async def test_the_collection_is_made_once(open_bank, server):
    for _ in range(2):
        bank = open_bank("my shop")
        await bank.ensure()
        await bank.ensure()
        await bank.close()
    assert server.calls.count("PUT /collections/my shop") == 1


async def test_another_embedder_is_refused_with_the_way_out(open_bank):
    await open_bank().retain(document("d1", OLD))
    other = open_bank(embedder=HashEmbedder(1024, identity="other/model"), machine="there")
    for call in (other.ensure(), other.recall(Query("prefetch")), other.retain(document("d2"))):
        with pytest.raises(BankError, match=r"testing/hash:1024.*other/model.*bank export") as seen:
            await call
        assert not seen.value.retryable


async def test_writing_the_same_again_makes_no_new_points(open_bank):
    for machine in ("here", "there"):
        bank = open_bank(machine=machine)
        await bank.retain(document("d1", OLD, NEW))
        assert (await bank.stats()).facts == 2
        assert await bank._store.count() == 2


async def test_what_another_machine_wrote_is_taken_over(open_bank):
    here, there = open_bank(machine="here"), open_bank(machine="there")
    await here.retain(document("d1", OLD, context="why"))
    assert (await there.stats()).facts == 1
    await there.retain(document("d2", NEW, supersedes=((fact_id(NEW), fact_id(OLD)),)))
    await there.pin_fact(fact_id(NEW), pinned=True)
    assert dict((await here.stats()).states) == {"valid": 1, "superseded": 1}
    assert [f.text for f in (await here.list_facts()).facts] == [NEW]
    told = await there.get_document("d1")
    assert (told.context, [f.text for f in told.facts]) == ("why", [OLD])
    await there.delete_fact(fact_id(OLD))
    assert (await here.retain(document("d3", OLD))).fact_ids == ()
    assert await texts(here) == [NEW]


async def test_a_write_that_broke_off_is_found_out(open_bank, server):
    bank = open_bank()
    await bank.retain(document("d1", OLD))
    apply = bank._side.apply

    async def killed(*args, **kwargs):
        raise BankError("killed")

    bank._side.apply = killed
    with pytest.raises(BankError, match="killed"):
        await bank.retain(document("d2", NEW))
    bank._side.apply = apply
    assert (await bank.stats()).facts == 2
    assert (await bank.retain(document("d2", NEW))).outcome == "known"


async def test_two_banks_in_one_collection_do_not_see_each_other(open_bank):
    shop, mine = open_bank("shop", collection="all"), open_bank("me", collection="all")
    await shop.retain(document("d1", OLD))
    await mine.retain(document("d1", NEW))
    assert await found(shop, "queue prefetch") == [OLD]
    assert await texts(mine) == [NEW]
    assert await shop.delete_document("d1")
    assert (await mine.stats()).documents == 1


async def test_a_collection_deleted_under_it_is_made_again(open_bank, server):
    bank = open_bank()
    await bank.retain(document("d1", OLD))
    server._local.delete_collection("shop")
    with pytest.raises(BankError, match="404"):
        await bank.stats()
    assert (await bank.stats()).facts == 0
    assert (await bank.retain(document("d1", OLD))).outcome == "stored"


async def test_only_new_texts_are_embedded(open_bank):
    embedder = HashEmbedder(1024)
    bank = open_bank(embedder=embedder)
    await bank.retain(document("d1", OLD))
    embedder.calls.clear()
    await bank.retain(document("d2", OLD))
    await bank.set_state(fact_id(OLD), "invalidated", reason="wrong")
    await bank.set_state(fact_id(OLD), "valid")
    assert embedder.calls == []
    await bank.edit_fact(fact_id(OLD), text=NEW)
    assert embedder.calls == [(NEW,)]


async def test_an_embedder_that_fails_fails_the_call_and_writes_nothing(open_bank):
    class Away(HashEmbedder):
        async def embed(self, texts, *, kind):
            raise ProviderError("the embedder is away", retry_after=7.0)

    bank = open_bank(embedder=Away(1024))
    with pytest.raises(BankError, match="the embedder is away") as seen:
        await bank.retain(document("d1", OLD))
    assert (seen.value.retryable, seen.value.retry_after) == (True, 7.0)
    assert (await open_bank().stats()).facts == 0


async def test_min_score_and_the_scope_of_a_file(open_bank):
    bank = open_bank()
    by_data = fact("Retries are capped", metadata={"file": "src/queue.py"})
    await bank.retain(document("d1", "src/queue.py retries thrice", by_data, "queue src other py"))
    said = await found(bank, "retries queue", scope=Scope(file="src/queue.py"))
    assert set(said) == {"src/queue.py retries thrice", "Retries are capped"}
    assert await found(bank, "retries", min_score=0.99) == []


@pytest.mark.parametrize(
    ("answer", "says", "retryable"),
    [
        (401, r"qdrant\.api_key_env", False),
        (500, "server's log", True),
        (429, "asked too often", True),
        (307, r"redirects: set qdrant\.url", False),
        (httpx.ConnectError("refused"), r"cannot be reached.*qdrant\.url", True),
        (httpx.ReadTimeout("slow"), r"no answer within 15 s.*qdrant\.timeout_ms", True),
    ],
)
async def test_errors_say_what_to_do(open_bank, server, answer, says, retryable):
    server.answer = answer
    with pytest.raises(BankError, match=says) as seen:
        await open_bank().recall(Query("prefetch"))
    assert seen.value.retryable is retryable


async def test_after_three_failures_it_is_left_alone_for_a_while(open_bank, server, clock):
    bank, server.answer = open_bank(), 503
    for _ in range(3):
        with pytest.raises(BankError, match="503"):
            await bank.stats()
    asked = len(server.calls)
    with pytest.raises(BankError, match="left alone"):
        await bank.stats()
    assert len(server.calls) == asked
    server.answer = None
    clock.advance(31)
    assert (await bank.stats()).facts == 0


async def test_the_key_comes_from_the_environment(open_bank, server, monkeypatch):
    key = "-".join(("only", "for", "tests"))
    bank = open_bank(api_key_env="SHOP_QDRANT_KEY")
    with pytest.raises(BankError, match="SHOP_QDRANT_KEY, which is not set"):
        await bank.stats()
    monkeypatch.setenv("SHOP_QDRANT_KEY", key)
    await bank.stats()
    assert set(server.keys) == {key}


def test_the_side_table_is_no_embedded_bank(tmp_path):
    from hindsight_core.banks.sqlite import list_banks

    path = side_path(tmp_path, "shop")
    path.write_text("")
    assert list_banks(tmp_path) == []
