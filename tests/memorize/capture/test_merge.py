from __future__ import annotations

from dataclasses import replace

import pytest

from hindsight_core.errors import BankError
from hindsight_core.identity import fact_id
from hindsight_core.state.life import decode, encode

OLD = "The user's favourite colour is blue."
NEW = "The user's favourite colour is orange."
SAID = "my favourite colour is orange"
BOTH = "The user's favourite colour is orange; it was blue."


def replace_text(fact):
    return replace(fact, text=f"{fact.text} Really.")


def replacing(target: str, text: str | None = None) -> dict:
    return {"action": "replace", "target_id": target, "text": text}


@pytest.mark.spec("am/A-MERGE")
async def test_a_replaced_memory_keeps_what_it_earned(active, scripted, propose, clock):
    kit = active(scripted(propose(NEW, SAID), merge=replacing(fact_id(OLD))))
    born = clock()
    old = await kit.hold(OLD, confidence=0.8, decay_rate=0.13, useful=3)
    clock.advance(days=1)
    [report] = await kit.say(f"Actually {SAID}.")
    assert (report.outcome, report.superseded) == ("stored", 1)
    [memory] = (await kit.memories()).values()
    record = memory.record
    assert memory.fact.text == NEW
    assert (record.confidence, record.decay_rate, record.useful) == (0.8, 0.13, 3)
    assert (record.created_at, record.priority) == (born, 1)
    assert (record.told.evidence, record.supersedes) == (SAID, (old.id,))
    assert [told.cause for told in record.earlier] == ["an earlier cause"]
    assert (kit.bank.facts[old.id].state, kit.bank.facts[old.id].text) == ("superseded", OLD)
    stored = next(fields for name, fields in kit.events if name == "capture.stored")
    assert (stored["created"], stored["id"]) == (False, memory.fact.id)


@pytest.mark.spec("am/A-MERGE")
async def test_the_model_sees_the_memories_that_are_near(active, scripted, propose):
    kit = active(scripted(propose(NEW, SAID)))
    old = await kit.hold(OLD, actor="assistant")
    await kit.hold("The build takes nine minutes.")
    await kit.say(SAID)
    asked = kit.model.asked("capture/merge")[0].messages[0].content
    assert f"{old.id}: {OLD} (said by: assistant)" in asked
    assert "nine minutes" not in asked
    assert "words of: user" in asked
    assert len(kit.bank.facts) == 3


@pytest.mark.spec("am/A-MERGE")
async def test_nothing_near_asks_nobody(active, scripted, propose):
    kit = active(scripted(propose(NEW, SAID)))
    await kit.hold("The build takes nine minutes.")
    await kit.say(SAID)
    assert kit.model.asked("capture/merge") == []


@pytest.mark.spec("am/A-MERGE")
@pytest.mark.parametrize(
    ("answer", "stored"),
    [
        ({"action": "noop"}, [OLD]),
        ({"action": "replace", "target_id": "invented"}, [OLD, NEW]),
        ({"action": "perhaps"}, [OLD, NEW]),
        ({}, [OLD, NEW]),
        ({"action": "add", "text": BOTH}, [OLD, BOTH]),
    ],
)
async def test_what_an_answer_comes_to(active, scripted, propose, answer, stored):
    kit = active(scripted(propose(NEW, SAID), merge=answer or {"action": "add"}))
    await kit.hold(OLD)
    await kit.say(SAID)
    assert sorted(await kit.memories()) == sorted(stored)


@pytest.mark.spec("am/A-MERGE")
async def test_another_wording_is_validated_again(active, scripted, propose):
    def verdict(request):
        return {"accept": BOTH not in request.messages[0].content, "reason": "it was never said"}

    kit = active(
        scripted(propose(NEW, SAID), validation=verdict, merge=replacing(fact_id(OLD), BOTH))
    )
    await kit.hold(OLD)
    [report] = await kit.say(SAID)
    assert (report.outcome, list(await kit.memories())) == ("known", [OLD])
    assert "not supported" in report.reason
    assert len(kit.model.asked("capture/validation")) == 2


@pytest.mark.spec("am/A-MERGE")
async def test_a_kind_may_change_and_a_user_takes_over_from_the_assistant(
    active, scripted, propose
):
    kit = active(scripted(propose(NEW, SAID, kind="fact"), merge=replacing(fact_id(OLD))))
    await kit.hold(OLD, actor="assistant", kind="user_profile")
    await kit.say(SAID)
    [memory] = (await kit.memories()).values()
    assert (memory.fact.kind, memory.record.told.actor, memory.record.priority) == (
        "fact",
        "user",
        1,
    )
    assert [told.actor for told in memory.record.earlier] == ["assistant"]


@pytest.mark.spec("am/A-MERGE")
async def test_only_memories_of_the_same_scope_and_project_are_near(active, scripted, propose):
    kit = active(scripted(propose(NEW, SAID, scope="project")))
    await kit.hold(OLD)
    await kit.hold("The user's favourite colour is green.", scope="project", project="elsewhere")
    await kit.say(SAID)
    assert kit.model.asked("capture/merge") == []
    near = next(fields for name, fields in kit.events if name == "capture.neighbors")
    assert near == {"scores": {}}
    assert (await kit.memories())[NEW].record.project == "here"


@pytest.mark.spec("am/A-MERGE", "am/A-STORE-3")
async def test_a_memory_that_changes_meanwhile_is_decided_about_anew(active, scripted, propose):
    answers = []

    def merge(request):
        answers.append(request)
        if len(answers) == 1:
            kit.bank.facts[fact_id(OLD)] = replace_text(kit.bank.facts[fact_id(OLD)])
            return replacing(fact_id(OLD))
        return {"action": "add"}

    kit = active(scripted(propose(NEW, SAID), merge=merge))
    await kit.hold(OLD)
    [report] = await kit.say(SAID)
    assert (report.outcome, len(answers)) == ("stored", 2)
    assert "capture.conflict" in kit.names()
    assert len(await kit.memories()) == 2


@pytest.mark.spec("am/A-MERGE")
async def test_three_conflicts_are_an_error(active, scripted, propose):
    kit = active(
        scripted(
            propose(NEW, SAID),
            merge=lambda request: (
                kit.bank.facts.update({fact_id(OLD): replace_text(kit.bank.facts[fact_id(OLD)])})
                or replacing(fact_id(OLD))
            ),
        )
    )
    await kit.hold(OLD)
    [report] = await kit.say(SAID)
    assert report.outcome == "failed"
    assert "keep changing" in report.reason
    assert kit.names().count("capture.conflict") == 3
    assert NEW not in await kit.memories()


@pytest.mark.spec("am/A-MERGE")
async def test_an_answer_given_meanwhile_is_not_lost(active, scripted, propose, clock):
    def rate(connection):
        [body] = connection.execute(
            "SELECT body FROM lives WHERE fact_id = ?", (fact_id(OLD),)
        ).fetchone()
        after = encode(replace(decode(body), useful=1))
        connection.execute("UPDATE lives SET body = ? WHERE fact_id = ?", (after, fact_id(OLD)))

    def merge(request):
        if "capture.conflict" not in kit.names():
            kit.keeper.records.database.write_now(rate)
        return replacing(fact_id(OLD))

    kit = active(scripted(propose(NEW, SAID), merge=merge))
    await kit.hold(OLD)
    await kit.say(SAID)
    assert "capture.conflict" in kit.names()
    assert (await kit.memories())[NEW].record.useful == 1


async def test_a_pinned_memory_is_never_replaced(active, scripted, propose):
    kit = active(scripted(propose(NEW, SAID), merge=replacing(fact_id(OLD))))
    await kit.hold(OLD)
    await kit.bank.pin_fact(fact_id(OLD), pinned=True)
    await kit.say(SAID)
    assert sorted(await kit.memories()) == sorted([OLD, NEW])


async def test_a_lapsed_memory_comes_back_when_it_is_said_again(active, scripted, propose, clock):
    from hindsight_core.memorize.lifecycle.sweep import Sweep

    kit = active(scripted(propose(NEW, SAID)))
    await kit.say(SAID)
    clock.advance(days=5)
    assert len((await Sweep(kit.keeper).run()).expired) == 1
    [report] = await kit.say(f"I said it already: {SAID}")
    assert (report.outcome, list(await kit.memories())) == ("stored", [NEW])
    assert (await kit.memories())[NEW].record.confidence == 0.5


async def test_what_a_person_called_wrong_does_not_come_back(active, scripted, propose):
    kit = active(scripted(propose(NEW, SAID)))
    await kit.say(SAID)
    await kit.keeper.retire(fact_id(NEW), reason="it is not true")
    [report] = await kit.say(f"I said it already: {SAID}")
    assert (report.outcome, await kit.memories()) == ("known", {})


async def test_without_a_model_another_value_replaces_and_the_same_is_known(
    active, scripted, propose
):
    kit = active(None)
    await kit.say("Remember: the staging port is 7443.")
    await kit.say("Remember: the staging port is 7444.")
    await kit.say("remember: the staging port is 7444")
    [memory] = (await kit.memories()).values()
    assert "7444" in memory.fact.text
    assert len(memory.record.earlier) == 1


async def test_a_bank_that_is_away_keeps_the_memory_in_the_queue(active, scripted, propose):
    kit = active(scripted(propose(NEW, SAID)))
    real = kit.bank.retain

    async def away(document):
        raise BankError("away")

    kit.bank.retain = away
    [report] = await kit.say(SAID)
    assert report.outcome == "queued"
    kit.bank.retain = real
    await kit.memorizer._parts.outbox.drain(kit.bank, deadline_s=5, force=True)
    memory = (await kit.memories())[NEW]
    assert memory.record.told.evidence == SAID
