from __future__ import annotations

from dataclasses import replace

import pytest

from hindsight_core.errors import BankError, ConfigError
from hindsight_core.memorize.capture.corrections import Edit

OLD = "The cache key holds the tenant."
NEW = "The cache key leaves out the tenant."
WHY = "the code says otherwise"


async def correct(kit, fact, text: str = NEW, reason: str = WHY):
    return await kit.memorizer.active.corrections.correct(
        fact.id, text=text, reason=reason, session_id="s9"
    )


async def edit(kit, fact, **changes: object):
    return await kit.memorizer.active.corrections.edit(fact.id, Edit(**changes))


@pytest.mark.spec("am/A-CORR", "am/A-REC-3")
async def test_the_assistant_corrects_its_own_memory_in_place(active, scripted):
    kit = active(scripted())
    fact = await kit.hold(OLD, actor="assistant", confidence=0.9, priority=0.8)
    done = await correct(kit, fact)
    [memory] = (await kit.memories()).values()
    assert (memory.fact.id, memory.fact.text) == (fact.id, NEW)
    assert memory.record == done.record
    record = memory.record
    assert (record.confidence, record.priority) == (0.75, 0.55)
    assert (record.told.cause, record.told.reason, record.told.session_id) == (
        "correction_of_inaccurate_assistant_memory",
        WHY,
        "s9",
    )
    assert [(told.cause, told.text) for told in record.earlier] == [("an earlier cause", OLD)]
    assert "memory.corrected" in kit.names()
    low = await kit.hold("Another one.", actor="assistant", confidence=0.2, priority=0.1)
    after = (await correct(kit, low)).record
    assert (after.confidence, after.priority) == (0.2, 0.1)


@pytest.mark.spec("am/A-CORR")
@pytest.mark.parametrize(
    ("actor", "text", "reason", "said"),
    [
        ("user", NEW, WHY, "only the user"),
        ("assistant", NEW, " ", "needs a reason"),
        ("assistant", OLD, WHY, "stored already"),
        ("assistant", " \n", WHY, "needs a text"),
    ],
)
async def test_corrections_that_are_refused(active, scripted, actor, text, reason, said):
    kit = active(scripted())
    fact = await kit.hold(OLD, actor=actor)
    before = (await kit.memories())[OLD]
    with pytest.raises(ConfigError, match=said):
        await correct(kit, fact, text, reason)
    assert (await kit.memories())[OLD] == before


@pytest.mark.spec("am/A-CORR")
async def test_a_memory_that_is_not_there_or_not_active_is_not_corrected(active, scripted):
    kit = active(scripted())
    fact = await kit.hold(OLD, actor="assistant")
    await kit.keeper.retire(fact.id, reason="wrong")
    for target in (fact, replace(fact, id="unknown")):
        with pytest.raises(ConfigError, match="no active memory"):
            await correct(kit, target)


@pytest.mark.spec("am/A-CORR", "am/A-STORE-3")
async def test_a_memory_that_was_moved_meanwhile_is_left_alone(active, scripted):
    kit = active(scripted())
    fact = await kit.hold(OLD, actor="assistant")
    real = kit.keeper.bank.get_fact
    looks = []

    async def get_fact(fact_id):
        looks.append(fact_id)
        if len(looks) == 2:  # it was read, and is about to be written
            await kit.keeper.records.change(
                kit.bank.id,
                [fact_id],
                lambda _: lambda held: replace(held, scope="project", project="elsewhere"),
            )
        return await real(fact_id)

    kit.bank.get_fact = get_fact
    with pytest.raises(BankError, match="changed while the correction was being prepared"):
        await correct(kit, fact)
    assert kit.bank.facts[fact.id].text == OLD


async def test_a_text_that_changed_meanwhile_is_left_alone(active, scripted):
    kit = active(scripted())
    fact = await kit.hold(OLD, actor="assistant")
    real, looks = kit.bank.get_fact, []

    async def get_fact(fact_id):
        looks.append(fact_id)
        if len(looks) == 2:
            await kit.bank.edit_fact(fact_id, text="A third text.")
        return await real(fact_id)

    kit.bank.get_fact = get_fact
    with pytest.raises(BankError, match="changed"):
        await correct(kit, fact)
    assert kit.bank.facts[fact.id].text == "A third text."


@pytest.mark.spec("am/A-TOOL")
async def test_an_edit_changes_fields_and_nothing_else(active, scripted):
    kit = active(scripted())
    fact = await kit.hold(OLD)
    before = (await kit.memories())[OLD].record
    done = await edit(
        kit, fact, text=NEW, kind="fact", scope="project", confidence=0.9, priority=0.5
    )
    [memory] = (await kit.memories()).values()
    assert (memory.fact.id, memory.fact.text, memory.fact.kind) == (fact.id, NEW, "fact")
    record = memory.record
    assert record == done.record
    assert (record.scope, record.project) == ("project", "here")
    assert (record.confidence, record.priority) == (0.9, 0.5)
    assert (record.created_at, record.told) == (before.created_at, before.told)
    assert [told.text for told in record.earlier] == [OLD]
    back = (await edit(kit, fact, scope="global")).record
    assert (back.scope, back.project) == ("global", "")


@pytest.mark.spec("am/A-TOOL")
async def test_an_edit_deletes_and_restores(active, scripted):
    kit = active(scripted())
    fact = await kit.hold(OLD)
    gone = await edit(kit, fact, state="invalidated", reason="we moved")
    assert (gone.fact.state, gone.fact.reason) == ("invalidated", "we moved")
    back = await edit(kit, fact, state="valid")
    assert (back.fact.state, back.record.expired_by) == ("valid", None)


@pytest.mark.spec("am/A-TOOL")
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"kind": "decision"}, "user_profile, fact, skill_workflow"),
        ({"scope": "team"}, "global, project"),
        ({"state": "superseded"}, "valid, invalidated"),
        ({"confidence": 1.1}, "from 0 to 1"),
        ({"priority": -1}, "from 0 to 1"),
        ({"text": ""}, "needs a text"),
    ],
)
async def test_an_edit_that_cannot_be_is_refused(active, scripted, changes, said):
    kit = active(scripted())
    fact = await kit.hold(OLD)
    with pytest.raises(ConfigError, match=said):
        await edit(kit, fact, **changes)
    with pytest.raises(ConfigError, match="no memory unknown"):
        await edit(kit, replace(fact, id="unknown"), text=NEW)
    assert list(await kit.memories()) == [OLD]
