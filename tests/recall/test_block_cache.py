"""The same request a moment later."""

from __future__ import annotations

import asyncio

import pytest

from hindsight_core.errors import BankError
from hindsight_core.recall.scopes import BankScope

PLAIN = {"mode": "plain", "cache_ttl_ms": 60_000}
FACT = "The importer retries five times"
ASK = "how often does the importer retry?"


def counted(made, bank_id="shop"):
    calls = []
    bank = made.banks[bank_id]
    search = bank.recall

    async def recall(query):
        calls.append(query)
        return await search(query)

    bank.recall = recall
    return calls


@pytest.mark.spec("s1/S-REC-6")
async def test_one_search_while_the_words_and_the_banks_are_the_same(kit, entry):
    made = kit(banks={"shop": [FACT], "me": []}, recall=PLAIN)
    calls = counted(made)
    first = await made.run(ASK, banks=("shop",))
    nudged = await made.run(ASK, id="t2", banks=("shop",), entries=(entry("user", ASK),) * 2)
    assert len(calls) == 1
    assert nudged.block == first.block
    assert nudged.details["cache_origin"] == "t1"
    await made.run(f"{ASK} really", banks=("shop",))
    assert len(calls) == 2
    await made.run(ASK, banks=("shop", "me"))
    assert len(calls) == 3
    made.runner._clock.advance(seconds=61)
    await made.run(ASK, banks=("shop",))
    assert len(calls) == 4


async def test_what_is_before_the_model_already_is_looked_at_again(kit):
    made = kit(FACT, recall=PLAIN)
    first = await made.run(ASK)
    again = await made.run(ASK, shown=frozenset({FACT.lower()}))
    assert first.block is not None and again.outcome == "empty"


async def test_a_failure_is_not_kept(kit):
    made = kit(banks={"shop": [FACT], "me": []}, recall=PLAIN)
    search = made.banks["me"].recall

    async def down(query):
        raise BankError("down")

    made.banks["me"].recall = down
    assert (await made.run(ASK)).outcome == "injected"
    made.banks["me"].recall = search
    calls = counted(made)
    await made.run(ASK)
    assert len(calls) == 1


async def test_without_a_time_nothing_is_kept(kit):
    made = kit(FACT, recall={"mode": "plain"})
    calls = counted(made)
    await made.run(ASK)
    await made.run(ASK)
    assert len(calls) == 2


@pytest.mark.spec("s1/S-REC-5")
async def test_a_cancelled_recall_leaves_no_trace(kit):
    made = kit(FACT, recall=PLAIN)
    search, started = made.bank.recall, asyncio.Event()

    async def hang(query):
        started.set()
        await asyncio.Event().wait()

    made.bank.recall = hang
    run = asyncio.create_task(made.run(ASK))
    await started.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert made.log.entries == []
    made.bank.recall = search
    calls = counted(made)
    assert (await made.run(ASK)).outcome == "injected"
    assert len(calls) == 1


@pytest.mark.spec("s1/S-REC-4")
async def test_a_bank_that_hangs_hides_nothing_of_the_others(kit):
    made = kit(banks={"shop": [FACT], "me": []}, recall={"mode": "plain", "timeout_ms": 80})

    async def hang(query):
        await asyncio.Event().wait()

    made.banks["me"].recall = hang
    outcome = await made.run(ASK)
    assert outcome.outcome == "injected"
    [late] = [item for item in outcome.searched if item.late]
    assert (late.bank, late.away) == ("me", True)


@pytest.mark.spec("s1/S-REC-9")
async def test_when_every_bank_fails_the_turn_says_so(kit):
    made = kit(banks={"shop": [FACT], "me": []}, recall=PLAIN)

    async def down(query):
        raise BankError("connection refused")

    for bank in made.banks.values():
        bank.recall = down
    outcome = await made.run(ASK)
    assert (outcome.outcome, outcome.block) == ("failed", None)
    assert "2 of 2 searches failed" in outcome.reason


@pytest.mark.spec("s1/S-REC-7")
async def test_at_most_so_many_facts_a_bank(kit):
    facts = [f"The importer retries step {n} five times" for n in range(6)]
    other = [f"The importer retries job {n} five times" for n in range(6)]
    made = kit(banks={"shop": facts, "me": other}, recall={**PLAIN, "max_lines": 24})
    made.runner._scopes = {bank: BankScope(bank, top_k=2) for bank in made.banks}
    outcome = await made.run(ASK)
    assert [hit.bank for hit in outcome.hits] == ["shop", "shop", "me", "me"]
