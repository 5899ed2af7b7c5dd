"""Whole sessions: where a deep pass is made, what it costs, and what is left when it fails."""

from __future__ import annotations

import asyncio

import pytest

from hindsight_core.errors import BankError, ProviderError
from hindsight_core.hookspecs import hookimpl
from hindsight_core.testing.banks import FakeBank
from hindsight_core.testing.models import HANG

IMPORTER = "The importer retries 5 times"
PAYMENTS = "Payments go through the ledger service first"
REFUNDS = "Refunds of payments need a second approval"
FACTS = (IMPORTER, PAYMENTS, REFUNDS)
PROSE = "Payments always pass the ledger service, and refunds need a second approval."
CHANGED = '{"changed": true, "title": "Payment refunds", "query": "payments refunds"}'
SAME = '{"changed": false}'


def script(**changes: object) -> dict[str, object]:
    """A model that looks for the importer, keeps everything and sees no change."""
    replies: dict[str, object] = {
        "recall/queries": {"queries": ["importer retries"]},
        "recall/judge": {"score": 80, "keep": list(range(1, 25))},
        "tasks/detect": SAME,
        "tasks/briefing": PROSE,
    }
    return {**replies, **{name.replace("_", "/"): reply for name, reply in changes.items()}}


def texts(outcome):
    return [hit.fact.text for hit in outcome.hits]


@pytest.mark.spec("pi/T-11", "pi/T-13", "pi/T-17")
async def test_the_first_turn_is_a_deep_pass_and_asks_no_detector(session):
    made = session(*FACTS, script=script())
    outcome = await made.ask("why does the importer give up?")
    assert made.stages == ["recall/queries", "recall/judge", "tasks/briefing"]
    assert (outcome.boundary, outcome.outcome) == ("session", "injected")
    assert outcome.briefing == PROSE
    assert outcome.block.kind == "briefing"


@pytest.mark.spec("pi/T-12")
async def test_an_ordinary_turn_asks_the_detector_beside_and_briefs_nobody(session):
    made = session(*FACTS, script=script())
    await made.ask("hello there")
    before = len(made.stages)
    made.shown.clear()
    outcome = await made.ask("why does the importer give up?")
    asked = made.stages[before:]
    assert sorted(asked) == ["recall/judge", "recall/queries", "tasks/detect"]
    assert outcome.block.kind == "recall" and outcome.boundary == "none"
    assert texts(outcome) == [IMPORTER]


@pytest.mark.spec("pi/T-12", "pi/T-13", "pi/T-17", "pi/T-10")
async def test_another_task_gets_one_briefing_with_the_right_facts(session):
    made = session(*FACTS, script=script(tasks_detect=[SAME, CHANGED]))
    await made.ask("why does the importer give up?")
    await made.ask("and now?")
    outcome = await made.ask("now the refunds of payments")
    assert outcome.boundary == "task"
    assert outcome.block.kind == "briefing"
    assert set(texts(outcome)) == {PAYMENTS, REFUNDS}
    assert outcome.block.text.count(PROSE) == 1
    assert outcome.block.text.count("<hindsight-memory") == 1
    assert outcome.searched[0].query.text == "payments refunds"


@pytest.mark.spec("pi/D-27")
async def test_a_change_costs_three_calls_more_than_an_ordinary_turn(session):
    queries = ["importer retries", "ledger service", "second approval"]
    made = session(
        *FACTS, script=script(recall_queries={"queries": queries}, tasks_detect=[SAME, CHANGED])
    )
    await made.ask("why does the importer give up?")
    made.shown.clear()
    before = len(made.stages)
    await made.ask("go on with it")
    ordinary = made.stages[before:]
    made.shown.clear()
    before = len(made.stages)
    await made.ask("now the refunds of payments")
    boundary = made.stages[before:]
    assert len(ordinary) <= 5
    assert len(boundary) <= len(ordinary) + 2
    assert boundary.count("recall/queries") == boundary.count("tasks/detect") == 1
    judged = [request.messages[0].content for request in made.made.model.asked("recall/judge")]
    assert len(set(judged[-len([s for s in boundary if s == "recall/judge"]) :])) == 4


@pytest.mark.spec("pi/T-10")
async def test_after_a_compaction_the_next_turn_is_deep_again_and_the_facts_come_again(session):
    made = session(*FACTS, script=script())
    first = await made.ask("why does the importer give up?")
    second = await made.ask("why does the importer give up?")
    made.compact()
    third = await made.ask("why does the importer give up?")
    assert texts(first) == texts(third) == [IMPORTER]
    assert second.block is None
    assert [o.boundary for o in (first, second, third)] == ["session", "none", "session"]
    assert third.block.kind == "briefing"
    assert made.stages.count("tasks/detect") == 1


@pytest.mark.spec("pi/T-10")
@pytest.mark.parametrize("off", [{"tasks": {"detect": False}}, {"recall": {"mode": "plain"}}])
async def test_without_detection_every_turn_is_ordinary(session, off):
    made = session(*FACTS, script=script(tasks_detect=CHANGED), **off)
    outcomes = [await made.ask("why does the importer give up?")]
    made.shown.clear()
    outcomes.append(await made.ask("why does the importer give up?"))
    made.compact()
    outcomes.append(await made.ask("why does the importer give up?"))
    assert [o.boundary for o in outcomes] == ["session", "none", "session"]
    assert {o.block.kind for o in outcomes} == {"recall"}
    assert not {"tasks/detect", "tasks/briefing"} & set(made.stages)


@pytest.mark.spec("pi/T-13", "pi/R-06")
async def test_a_deep_pass_has_caps_of_its_own(session):
    facts = [f"The importer has rule number {n} about retries" for n in range(40)]
    queries = [f"importer rule {n}" for n in range(9)]
    made = session(
        *facts,
        script=script(recall_queries={"queries": queries}, tasks_briefing="NONE"),
        tasks={"deep_queries": 4, "deep_max_lines": 10},
        recall={"max_lines": 3},
    )
    deep = await made.ask("what are the rules of the importer?")
    made.shown.clear()
    ordinary = await made.ask("and again, the rules of the importer?")
    assert len({item.query.text for item in deep.searched}) == 4
    assert len(deep.hits) == 10
    assert len({item.query.text for item in ordinary.searched}) == 3
    assert len(ordinary.hits) == 3


@pytest.mark.spec("pi/T-13")
async def test_the_detectors_query_is_first_and_queries_over_the_cap_are_used(session):
    queries = ["importer retries", "payments refunds", "ledger service", "second approval"]
    made = session(
        *FACTS,
        script=script(recall_queries={"queries": queries}, tasks_detect=CHANGED),
        recall={"effort": "light"},
    )
    await made.ask("hello there")
    outcome = await made.ask("now the refunds of payments")
    assert [item.query.text for item in outcome.searched] == [
        "ledger service",
        "second approval",
        "importer retries",
        "payments refunds",
    ]


@pytest.mark.spec("pi/T-13")
async def test_a_change_is_searched_even_where_the_plan_wants_nothing(session):
    nothing = {"queries": [], "reason": "small talk"}
    made = session(*FACTS, script=script(recall_queries=nothing, tasks_detect=CHANGED))
    await made.ask("hello there")
    outcome = await made.ask("now the refunds of payments")
    assert set(texts(outcome)) == {PAYMENTS, REFUNDS}
    assert outcome.outcome == "injected"


@pytest.mark.spec("pi/T-13")
async def test_the_gate_of_an_older_template_does_not_close_a_deep_pass(session):
    gated = {"queries": ["importer retries"], "shouldQuery": False, "reason": "no need"}
    made = session(*FACTS, script=script(recall_queries=gated))
    first = await made.ask("hello there")
    made.shown.clear()
    second = await made.ask("hello again")
    assert texts(first) == [IMPORTER]
    assert (second.outcome, second.reason) == ("skipped", "no need")


@pytest.mark.spec("pi/T-14")
@pytest.mark.parametrize(
    "reply", ["NONE", "NONE.", " none of it", "", ProviderError("down"), '{"facts": []}']
)
async def test_without_a_usable_briefing_the_facts_stand_as_they_are(session, reply):
    usable = reply == " none of it"
    made = session(*FACTS, script=script(tasks_briefing=reply))
    outcome = await made.ask("why does the importer give up?")
    assert (outcome.block.kind, outcome.outcome) == (
        "briefing" if usable else "recall",
        "injected",
    )
    assert (f"] {IMPORTER}" in outcome.block.text) is not usable


@pytest.mark.spec("pi/T-14", "pi/D-04")
async def test_a_briefing_that_is_too_slow_leaves_the_facts(session):
    made = session(*FACTS, script=script(tasks_briefing=HANG), recall={"timeout_ms": 300})
    outcome = await made.ask("why does the importer give up?")
    assert (outcome.outcome, outcome.block.kind) == ("injected", "recall")
    assert texts(outcome) == [IMPORTER]


class Moody(FakeBank):
    """Fails or hangs for one query."""

    mood: object = BankError("bank is ill", retryable=True)

    async def recall(self, query):
        if query.text == "payments refunds":
            if self.mood is HANG:
                await asyncio.Event().wait()
            raise self.mood
        return await super().recall(query)


@pytest.fixture
def moody(session, fact):
    def make(mood: object, **options: object):
        bank = Moody("shop")
        bank.mood = mood
        for text in FACTS:
            held = fact(text)
            bank.facts[held.id] = held
        options.setdefault("script", script(tasks_detect=CHANGED))
        return session(bank_objects={"shop": bank}, **options)

    return make


@pytest.mark.spec("pi/T-20", "pi/D-04")
@pytest.mark.parametrize("mood", [BankError("ill", retryable=True), HANG, ZeroDivisionError("no")])
async def test_what_the_ordinary_pass_has_paid_for_is_used(moody, mood):
    made = moody(mood, recall={"timeout_ms": 600})
    await made.ask("hello there")
    made.shown.clear()
    outcome = await made.ask("now the refunds of payments")
    assert outcome.outcome == "injected"
    assert texts(outcome) == [IMPORTER]
    assert outcome.boundary == "task"


@pytest.mark.spec("pi/T-20")
async def test_when_both_fail_the_turn_has_failed(moody):
    class Breaks:
        broken = False

        @hookimpl
        def hindsight_plan_recall(self, turn):
            if self.broken:
                raise ZeroDivisionError("oops")

    breaks = Breaks()
    made = moody(ZeroDivisionError("no"), plugins=[breaks])
    await made.ask("hello there")
    breaks.broken = True
    outcome = await made.ask("now the refunds of payments")
    assert (outcome.outcome, outcome.block) == ("failed", None)
    assert "oops" in outcome.reason


@pytest.mark.spec("pi/T-20")
async def test_a_deep_pass_stands_in_for_an_ordinary_one_that_failed(session):
    class Breaks:
        broken = False

        @hookimpl
        def hindsight_plan_recall(self, turn):
            if self.broken:
                raise ZeroDivisionError("oops")

    breaks = Breaks()
    made = session(*FACTS, script=script(tasks_detect=CHANGED), plugins=[breaks])
    await made.ask("hello there")
    breaks.broken = True
    outcome = await made.ask("now the refunds of payments")
    assert set(texts(outcome)) == {PAYMENTS, REFUNDS}


@pytest.mark.spec("pi/T-20")
async def test_a_failed_first_turn_injects_nothing(session):
    class Away(FakeBank):
        async def recall(self, query):
            raise BankError("away", retryable=True)

    made = session(bank_objects={"shop": Away("shop")}, script=script())
    outcome = await made.ask("why does the importer give up?")
    assert (outcome.outcome, outcome.block) == ("failed", None)


@pytest.mark.spec("pi/T-08")
@pytest.mark.parametrize("reply", [ProviderError("down"), "gibberish"])
async def test_a_broken_detector_costs_nothing_but_its_answer(session, reply):
    made = session(*FACTS, script=script(tasks_detect=reply))
    await made.ask("hello there")
    made.shown.clear()
    outcome = await made.ask("why does the importer give up?")
    assert (outcome.outcome, outcome.boundary) == ("injected", "none")
    assert texts(outcome) == [IMPORTER]


@pytest.mark.spec("pi/D-11")
async def test_the_first_task_has_a_name_by_its_first_query(session):
    made = session(*FACTS, script=script(tasks_detect=CHANGED))
    await made.ask("why does the importer give up?")
    assert made.contour.state.title == "importer retries"
    await made.ask("now the refunds of payments")
    assert made.contour.state.title == "Payment refunds"
    assert made.contour.state.past_titles == ("importer retries",)
    await made.ask("back to the other thing")
    asked = made.made.model.asked("tasks/detect")[-1].messages[0].content
    assert "PAST TASKS\n- importer retries" in asked


@pytest.mark.spec("pi/D-11")
async def test_the_detector_may_name_the_first_task(session):
    named = '{"changed": false, "title": "Importer gives up"}'
    again = '{"changed": false, "title": "Something else"}'
    made = session(*FACTS, script=script(tasks_detect=[named, again]))
    await made.ask("why does the importer give up?")
    await made.ask("and now?")
    assert made.contour.state.title == "Importer gives up"
    await made.ask("go on")
    assert made.contour.state.title == "Importer gives up"


@pytest.mark.spec("pi/T-16")
async def test_facts_of_a_briefing_are_not_shown_again_until_a_compaction(session):
    made = session(*FACTS, script=script())
    await made.ask("why does the importer give up?")
    again = await made.ask("why does the importer give up?")
    assert (again.outcome, again.skipped_shown) == ("empty", 1)
    made.compact()
    await made.ask("hello there")
    assert made.shown == {IMPORTER.lower()}


@pytest.mark.spec("pi/T-01")
async def test_an_aborted_turn_was_never_heard(session):
    made = session(*FACTS, script=script(tasks_detect=CHANGED))
    await made.look("why does the importer give up?")
    assert made.contour.state.turns == ()
    first = await made.ask("why does the importer give up?")
    assert first.boundary == "session"
    await made.ask("now the refunds of payments")
    made.contour.take_back()
    assert made.contour.state.title == "importer retries"
    assert [t.turn.request for t in made.contour.state.turns] == ["why does the importer give up?"]


async def test_children_and_empty_prompts_have_no_tasks(session):
    made = session(*FACTS, script=script(tasks_detect=CHANGED))
    child = await made.ask("why does the importer give up?", is_child=True)
    blank = await made.ask("?!")
    assert child.block.kind == "recall" and child.boundary == "none"
    assert blank.outcome == "skipped"
    assert not {"tasks/detect", "tasks/briefing"} & set(made.stages)
    assert made.contour.state.begun is False


async def test_without_a_model_no_turn_is_deep(session):
    facts = [f"The importer has rule number {n} about retries" for n in range(20)]
    made = session(*facts)
    outcome = await made.ask("which rules about retries has the importer?")
    assert outcome.block.kind == "recall"
    assert len(outcome.hits) <= 8


async def test_a_plan_without_a_model_shows_no_more_than_an_ordinary_turn(session):
    facts = [f"The importer has rule number {n} about retries" for n in range(20)]
    made = session(*facts, script=script(recall_queries=ProviderError("down")))
    outcome = await made.ask("which rules about retries has the importer?")
    assert (outcome.outcome, outcome.block.kind) == ("degraded", "recall")
    assert len(outcome.hits) <= 8
    assert "tasks/briefing" not in made.stages


@pytest.mark.spec("pi/T-15")
async def test_reflect_is_never_used_by_itself(session):
    made = session(*FACTS, script=script(tasks_detect=[SAME, CHANGED]))
    for prompt in ("why does the importer give up?", "and now?", "now the refunds of payments"):
        await made.ask(prompt)
    assert "bank/reflect" not in made.stages
    assert not [call for call in made.made.bank.calls if call[0] == "reflect"]


@pytest.mark.spec("pi/T-14", "pi/R-18")
async def test_the_log_says_where_a_task_began_and_whether_prose_was_used(session):
    made = session(*FACTS, script=script(tasks_detect=SAME))
    await made.ask("why does the importer give up?")
    await made.ask("and now?")
    first, second = made.made.log.entries
    assert (first["boundary"], first["synthesized"], first["injected"]) == ("session", True, 1)
    assert (second["boundary"], second["synthesized"]) == ("none", False)
    fates = [hit["outcome"] for query in first["queries"] for hit in query["hits"]]
    assert fates == ["injected"]


@pytest.mark.spec("pi/T-14")
def test_what_the_briefings_prompt_demands(prompts):
    from hindsight_core.prompt_contexts_recall import Briefing

    rendered = prompts.render("tasks/briefing", Briefing(request="the task", facts=()))
    flat = " ".join(rendered.text.split()).casefold()
    for demand in (
        "2 to 6 sentences",
        "only what the facts say",
        "only what bears on this task",
        "decisions, constraints",
        "tried and failed",
        "say a thing once",
        "letter for letter",
        "facts disagree",
        "the one word none",
        "untrusted data",
    ):
        assert demand in flat
