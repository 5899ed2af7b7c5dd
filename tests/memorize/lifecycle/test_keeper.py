from __future__ import annotations

from dataclasses import replace

import pytest

from hindsight_core.config.settings import Settings
from hindsight_core.errors import BankError
from hindsight_core.memorize.lifecycle.sweep import Sweep
from hindsight_core.memory import Provenance
from hindsight_core.state.life import LifeRecord, Told

NEW = LifeRecord(Told("user", session_id="s1"))


async def sweep(keeper, *session):
    return await Sweep(keeper).run(*session)


async def state(keeper, fact_id: str) -> tuple[str, float]:
    memory = (await keeper.memories([fact_id], active_only=False))[fact_id]
    return memory.fact.state, round(memory.record.confidence, 4)


@pytest.mark.spec("am/A-LIFE-1", "am/A-LIFE-6")
async def test_five_unused_days_retire_it_recoverably(keeper, clock, put, bank, events):
    fact_id = await put("The shop sells tea.")
    assert (await sweep(keeper, "s1")).initialized == 1
    clock.advance(days=4)
    assert (await sweep(keeper, "s1")).expired == ()
    clock.advance(days=1)
    swept = await sweep(keeper, "s1")
    assert [m.fact.id for m in swept.expired] == [fact_id]
    assert await state(keeper, fact_id) == ("invalidated", 0.0967)
    assert "lifecycle.deletion_threshold" in bank.facts[fact_id].reason
    assert ("memory.expired", "low_confidence") in [(n, f.get("reason")) for n, f in events]
    back = await keeper.restore(fact_id)
    assert (back.fact.state, back.record.confidence) == ("valid", 0.5)
    clock.advance(days=1)
    assert (await sweep(keeper, "s1")).expired == ()


@pytest.mark.spec("am/A-LIFE-6", "am/A-LIFE-2")
async def test_what_had_no_record_begins_and_what_is_due_goes(keeper, clock, put):
    await put("The shop sells tea.")
    await sweep(keeper)
    clock.advance(days=5)
    await put("The shop is open on Sunday.")
    swept = await sweep(keeper)
    assert (swept.initialized, len(swept.expired)) == (1, 1)


@pytest.mark.spec("am/A-LIFE-3")
async def test_a_second_sweep_of_a_day_changes_nothing(keeper, clock, put):
    fact_id = await put("The shop sells tea.")
    await sweep(keeper)
    clock.advance(days=1)
    for _ in range(2):
        await sweep(keeper)
        assert await state(keeper, fact_id) == ("valid", 0.36)


async def test_without_the_lifecycle_nothing_decays(make_keeper, clock, put):
    keeper = make_keeper(Settings())
    fact_id = await put("The shop sells tea.")
    clock.advance(days=500)
    assert await sweep(keeper) == await sweep(keeper)
    assert await state(keeper, fact_id) == ("valid", 0.5)


async def test_a_pinned_fact_stays_and_is_not_deleted(keeper, clock, put, bank):
    fact_id = await put("The shop sells tea.", pinned=True)
    await sweep(keeper)
    clock.advance(days=365)
    assert (await sweep(keeper)).expired == ()
    assert await state(keeper, fact_id) == ("valid", 0.5)
    with pytest.raises(BankError, match="pinned"):
        await keeper.retire(fact_id, reason="no")


async def test_what_somebody_else_restored_is_not_retired_again(keeper, clock, put, bank):
    fact_id = await put("The shop sells tea.")
    await sweep(keeper)
    clock.advance(days=5)
    await sweep(keeper)
    await bank.set_state(fact_id, "valid")
    await sweep(keeper)
    assert await state(keeper, fact_id) == ("valid", 0.5)


async def test_a_crash_between_bank_and_record_leaves_it_restorable(keeper, clock, put, bank):
    fact_id = await put("The shop sells tea.")
    await sweep(keeper)
    clock.advance(days=5)
    await bank.set_state(fact_id, "invalidated")  # what a sweep does first
    assert (await sweep(keeper)).expired == ()
    await keeper.restore(fact_id)
    clock.advance(days=4)
    await sweep(keeper)
    assert (await state(keeper, fact_id))[0] == "valid"


@pytest.mark.spec("am/A-STORE-6")
async def test_a_fact_without_a_record_gets_what_the_bank_knows_of_it(keeper, put, settings):
    theirs = await put(
        "The build takes nine minutes.",
        provenance=Provenance(speaker="assistant", session_id="old"),
    )
    mine = await put("The shop sells tea.")
    assert (await sweep(keeper)).initialized == 2
    found = await keeper.memories([theirs, mine])
    told = found[theirs].record.told
    assert (told.actor, told.session_id, told.cause) == (
        "assistant",
        "old",
        "legacy_memory_migration",
    )
    assert "before" in told.reason
    assert found[theirs].record.priority == 0.55
    assert (found[mine].record.told.actor, found[mine].record.priority) == ("user", 1)


@pytest.mark.spec("am/A-FB-4")
async def test_an_answer_moves_the_confidence_and_may_retire(keeper, put, events):
    fact_id = await put("The shop sells tea.")
    await sweep(keeper)
    confidences = []
    for number in range(3):
        token = await keeper.tokens.issue("shop", f"s{number}", [fact_id])
        judged = await keeper.answer(
            token, fact_id, outcome="unhelpful", reason="off topic", session_id=f"s{number}"
        )
        confidences.append((round(judged.memory.record.confidence, 2), judged.retired))
    assert confidences == [(0.35, False), (0.2, False), (0.05, True)]
    assert (await state(keeper, fact_id))[0] == "invalidated"
    assert [n for n, _ in events].count("feedback.recorded") == 3


@pytest.mark.spec("am/A-FB-4", "am/A-FB-1")
async def test_an_answer_about_what_is_gone_is_given_back(keeper, put, bank):
    fact_id = await put("The shop sells tea.")
    token = await keeper.tokens.issue("shop", "s1", [fact_id])
    await keeper.retire(fact_id, reason="wrong")

    async def ask():
        return await keeper.answer(token, fact_id, outcome="useful", reason="yes", session_id="s1")

    judged = await ask()
    assert (judged.accepted, judged.reason) == (False, "inactive")
    bank.failing = BankError("away")
    with pytest.raises(BankError):
        await ask()
    bank.failing = None
    await keeper.restore(fact_id)
    assert (await ask()).accepted
    assert (await ask()).reason == "duplicate"


async def test_an_answer_follows_the_memory_that_took_the_place(keeper, put, bank):
    old = await put("The shop sells tea.")
    new = await put("The shop sells tea and cake.")
    token = await keeper.tokens.issue("shop", "s1", [old])
    await bank.set_state(old, "superseded", superseded_by=new)
    assert await keeper.records.succeed("shop", new, record=NEW, seen={old: NEW})
    judged = await keeper.answer(token, old, outcome="useful", reason="yes", session_id="s1")
    assert (judged.memory.fact.id, judged.memory.record.useful) == (new, 1)


@pytest.mark.spec("am/A-LIFE-4")
async def test_what_was_delivered_is_reinforced(keeper, put, clock):
    fact_id = await put("The shop sells tea.")
    await sweep(keeper, "s1")
    clock.advance(days=4)
    await keeper.reinforce([fact_id, "unknown"], session_id="s2")
    record = (await keeper.memories([fact_id]))[fact_id].record
    assert (record.reinforced, record.relevant_session, record.relevant_number) == (1, "s2", 2)
    assert record.decayed_on == clock().date()


async def test_deletion_is_soft_with_a_reason(keeper, put, bank):
    fact_id = await put("The shop sells tea.")
    gone = await keeper.retire(fact_id, reason="it closed", session_id="s1")
    assert (gone.fact.state, gone.fact.reason) == ("invalidated", "it closed")
    assert gone.record.expired_by == "person"
    assert await keeper.memories([fact_id]) == {}


async def test_a_place_is_taken_only_from_the_record_that_was_seen(keeper):
    records = keeper.records
    assert await records.succeed("shop", "b", record=NEW, seen={"a": NEW})
    assert not await records.succeed("shop", "c", record=NEW, seen={"a": NEW})
    seen = (await records.get("shop", ["a"]))["a"]
    assert seen.succeeded_by == "b"
    assert await records.succeed("shop", "c", record=replace(NEW, useful=1), seen={"a": seen})
    assert (await records.get("shop", ["c"]))["c"].useful == 1


async def test_an_answer_while_the_place_is_being_taken_is_not_lost(keeper, put):
    old = await put("The shop sells tea.")
    token = await keeper.tokens.issue("shop", "s1", [old])
    await keeper.records.succeed("shop", "new", record=NEW, seen={old: NEW})
    await keeper.answer(token, old, outcome="useful", reason="yes", session_id="s1")
    assert (await keeper.records.get("shop", ["new"]))["new"].useful == 1


async def test_what_waits_for_an_approval_does_not_decay(make_keeper, clock, put, bank):
    keeper = make_keeper(
        Settings.model_validate({"lifecycle": {"enabled": True}, "review": {"mode": "before"}})
    )
    fact_id = await put("The shop sells tea.", state="pending")
    record = replace(NEW, decayed_on=clock().date())
    await keeper.records.put("shop", {fact_id: record})
    for _ in range(7):
        clock.advance(days=1)
        await sweep(keeper)
    await bank.set_state(fact_id, "valid")
    await sweep(keeper)
    assert await state(keeper, fact_id) == ("valid", 0.5)
