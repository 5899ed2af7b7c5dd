from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from hindsight_core.config.settings import Settings
from hindsight_core.errors import BankError, ConfigError
from hindsight_core.identity import fact_id
from hindsight_core.memorize.consolidate.consolidation import Consolidation, Proposal
from hindsight_core.memorize.consolidate.pairs import Pair
from hindsight_core.memorize.lifecycle import decay
from hindsight_core.memorize.lifecycle.decay import Moment
from hindsight_core.memorize.parts import ActiveParts
from hindsight_core.memory import Fact
from hindsight_core.state.life import Answer, LifeRecord, Told

FIRST = "The user prefers tabs in Python files."
SECOND = "In Python files the user prefers tabs of width four."
BOTH = "The user prefers tabs of width four in Python files."


class Kit:
    """A bank with memories, and a model that proposes."""

    def __init__(self, kit, clock, model: dict | None, settings: dict) -> None:
        self.events: list = []
        sink = lambda name, fields: self.events.append((name, fields))  # noqa: E731
        made = kit(
            model,
            active=ActiveParts(project="here", cwd="/projects/shop", sink=sink),
            lifecycle={"enabled": True},
            **settings,
        )
        self.bank, self.model, self.clock = made.bank, made.model, clock
        self.keeper = made.memorizer.active.keeper
        self.work: Consolidation = made.memorizer.active.consolidation

    async def hold(self, text: str, *, told: Told | None = None, **changes: object) -> Fact:
        fact = Fact(fact_id(text), text, kind="user_profile")
        await self.bank.import_facts([fact])
        fresh = LifeRecord(told or Told("user", session_id="old"), scope="global")
        begun = decay.begun(fresh, Settings().lifecycle, Moment(self.clock()))
        record = replace(begun, **changes)
        await self.keeper.records.change(self.bank.id, [fact.id], lambda _: lambda held: record)
        return fact

    async def pair(self, *facts: Fact) -> Proposal:
        held = await self.keeper.memories([fact.id for fact in facts])
        first, second = (held[fact.id] for fact in facts)
        return Proposal(Pair(first, second, 0.9), BOTH, "alike", enabled=True)


@pytest.fixture
def opened(kit, clock):
    def make(*, with_model: bool = True, settings: dict | None = None, **stages: object) -> Kit:
        usual = {
            "consolidate": {"merge": True, "text": BOTH, "reason": "the same wish"},
            "consolidate_validation": {"accept": True, "reason": "nothing is lost"},
            **stages,
        }
        model = {f"capture/{name}": reply for name, reply in usual.items()}
        return Kit(kit, clock, model if with_model else None, settings or {})

    return make


@pytest.mark.spec("am/A-COMP-1", "am/A-COMP-2")
async def test_a_pair_is_proposed_with_one_sentence(opened):
    made = opened()
    await made.hold(FIRST)
    await made.hold(SECOND)
    await made.hold("The build takes nine minutes.")
    [proposal] = await made.work.propose()
    assert {proposal.pair.first.fact.text, proposal.pair.second.fact.text} == {FIRST, SECOND}
    assert proposal.pair.ids == tuple(sorted((fact_id(FIRST), fact_id(SECOND))))
    assert (proposal.text, proposal.reason, proposal.enabled) == (BOTH, "the same wish", True)
    asked = made.model.asked("capture/consolidate")[0].messages[0].content
    assert f"{fact_id(FIRST)}: {FIRST}" in asked
    assert ("compaction.planned", {"pairs": 1}) in made.events


@pytest.mark.spec("am/A-COMP-2")
@pytest.mark.parametrize(
    ("answer", "enabled"),
    [
        ({"merge": False, "text": BOTH, "reason": ""}, False),
        ({"merge": True, "text": " ", "reason": ""}, False),
        ({"merge": True, "text": "One line.\nAnother.", "reason": ""}, False),
        ({"merge": True, "text": "x" * 65, "reason": ""}, True),  # ceil(1.25 * 52)
        ({"merge": True, "text": "x" * 66, "reason": ""}, False),
    ],
)
async def test_which_sentences_may_be_stored_as_they_are(opened, answer, enabled):
    made = opened(consolidate=answer)
    await made.hold(FIRST)
    await made.hold(SECOND)
    [proposal] = await made.work.propose()
    assert proposal.enabled is enabled


@pytest.mark.spec("am/A-COMP-2")
async def test_no_sentence_is_longer_than_a_memory_may_be(opened):
    answer = {"merge": True, "text": "x" * 50, "reason": ""}
    made = opened(consolidate=answer, settings={"security": {"max_fact_characters": 49}})
    await made.hold(FIRST)
    await made.hold(SECOND)
    [proposal] = await made.work.propose()
    assert not proposal.enabled


@pytest.mark.spec("am/A-COMP-4", "am/A-REC-3")
async def test_the_one_memory_has_the_best_and_the_history_of_both(opened, clock):
    made = opened()
    early, late = clock() - timedelta(days=3), clock() - timedelta(days=1)

    def answer(session: str, hours: int) -> Answer:
        return Answer("useful", session, session, "it helped", late + timedelta(hours=hours))

    old_a, old_b = Told("user", session_id="old-a"), Told("user", session_id="old-b")
    first = await made.hold(
        FIRST,
        told=Told("user", session_id="now-a"),
        confidence=0.8,
        decay_rate=0.2,
        priority=0.7,
        created_at=late,
        earlier=(old_a,),
        useful=1,
        answers=(answer("x", 2),),
        supersedes=("first",),
    )
    second = await made.hold(
        SECOND,
        told=Told("user", session_id="old-c"),
        confidence=0.6,
        decay_rate=0.1,
        priority=1,
        created_at=early,
        earlier=(old_b, old_a),
        useful=1,
        unhelpful=1,
        answers=(answer("y", 1),),
        supersedes=("second", "first"),
    )
    done = await made.work.combine(await made.pair(first, second), session_id="s9")
    record = done.record
    assert (record.confidence, record.decay_rate, record.priority) == (0.8, 0.1, 1)
    assert (record.created_at, record.useful, record.unhelpful) == (early, 2, 1)
    assert [item.token for item in record.answers] == ["y", "x"]
    assert [told.session_id for told in record.earlier] == ["old-a", "now-a", "old-b", "old-c"]
    assert [told.text for told in record.earlier if told.text] == [FIRST, SECOND]
    assert record.supersedes == (first.id, second.id, "first", "second")
    assert (record.told.cause, record.told.session_id) == ("user_invoked_compaction", "s9")
    assert record.told.evidence == f"{first.id},{second.id}"
    assert (record.cause, record.reinforced) == ("consolidation", 1)
    assert record.decayed_on == clock().date()
    held = (await made.keeper.memories([done.fact.id]))[done.fact.id]
    assert (held.fact.text, held.record) == (BOTH, record)
    for old in (first, second):
        assert made.bank.facts[old.id].state == "superseded"
        assert made.bank.facts[old.id].superseded_by == done.fact.id
    assert "compaction.applied" in [name for name, _ in made.events]


@pytest.mark.spec("am/A-COMP-4")
@pytest.mark.parametrize(
    "changes",
    [
        {"told": Told("assistant", session_id="old")},
        {"scope": "project", "project": "here"},
    ],
)
async def test_consolidation_never_crosses_authority(opened, changes):
    made = opened()
    first = await made.hold(FIRST)
    second = await made.hold(SECOND, **changes)
    with pytest.raises(ConfigError, match="authority boundaries"):
        await made.work.combine(await made.pair(first, second))
    assert made.bank.facts[first.id].state == "valid"


@pytest.mark.spec("am/A-COMP-4", "am/A-COMP-3")
async def test_a_sentence_of_the_user_is_checked_as_well(opened):
    made = opened(consolidate_validation={"accept": False, "reason": "the width is lost"})
    first, second = await made.hold(FIRST), await made.hold(SECOND)
    proposal = await made.pair(first, second)
    with pytest.raises(ConfigError, match="the width is lost"):
        await made.work.combine(proposal, text="The user likes tabs.")
    with pytest.raises(ConfigError, match="blank"):
        await made.work.combine(proposal, text="  ")
    asked = made.model.asked("capture/consolidate_validation")[0].messages[0].content
    assert "The user likes tabs." in asked
    assert made.bank.facts[first.id].state == "valid"


@pytest.mark.spec("am/A-COMP-3")
async def test_what_the_user_writes_is_what_is_stored(opened):
    made = opened()
    proposal = await made.pair(await made.hold(FIRST), await made.hold(SECOND))
    done = await made.work.combine(proposal, text="The user wants tabs, four wide, in Python.")
    assert done.fact.text == "The user wants tabs, four wide, in Python."


@pytest.mark.spec("am/A-COMP-4")
async def test_a_memory_that_changed_since_it_was_shown_stops_it(opened):
    made = opened()
    first, second = await made.hold(FIRST), await made.hold(SECOND)
    shown = await made.pair(first, second)
    await made.bank.edit_fact(second.id, text="Something else.")
    with pytest.raises(BankError, match="changed since it was shown"):
        await made.work.combine(shown)

    shown = await made.pair(first, second)
    token = await made.keeper.tokens.issue(made.bank.id, "s1", [first.id])
    await made.keeper.answer(token, first.id, outcome="useful", reason="yes", session_id="s1")
    with pytest.raises(BankError, match="changed since it was shown"):
        await made.work.combine(shown)
    assert made.bank.facts[first.id].state == "valid"


async def test_a_pinned_memory_stays_by_itself(opened):
    made = opened()
    first, second = await made.hold(FIRST), await made.hold(SECOND)
    await made.bank.pin_fact(first.id, pinned=True)
    with pytest.raises(ConfigError, match="unpin it first"):
        await made.work.combine(await made.pair(first, second))


async def test_without_a_model_the_user_writes_the_sentence(opened):
    made = opened(with_model=False)
    await made.hold(FIRST)
    await made.hold(SECOND)
    [proposal] = await made.work.propose()
    assert (proposal.text, proposal.enabled) == ("", False)
    assert "write the sentence" in proposal.reason
    done = await made.work.combine(proposal, text=BOTH)
    assert done.fact.text == BOTH
