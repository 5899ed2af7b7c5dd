from __future__ import annotations

import asyncio

import pytest

from hindsight_core.errors import BankError, ProviderError
from hindsight_core.hookspecs import hookimpl
from hindsight_core.recall.shown import keys, shown_by
from hindsight_core.testing.banks import FakeBank
from hindsight_core.testing.models import HANG
from hindsight_core.turns import Plan

IMPORTER = "The importer retries 5 times"
SHOP = (
    "Marketing copy avoids exclamation marks",
    "DNS is at ns1.example",
    IMPORTER,
    "Logo blue is #0044cc",
)
ONE = {"recall/queries": '{"queries": ["importer retries"]}'}
KEEP_FIRST = {**ONE, "recall/judge": '{"score": 80, "keep": [1]}'}


class HangingBank(FakeBank):
    async def recall(self, query):
        await asyncio.Event().wait()


class Watcher:
    def __init__(self):
        self.outcomes = []

    @hookimpl
    def hindsight_after_recall(self, turn, outcome):
        self.outcomes.append(outcome)


def texts(outcome):
    return [hit.fact.text for hit in outcome.hits]


@pytest.mark.spec("pi/R-10", "pi/R-18", "pi/R-20")
async def test_a_judged_turn(kit):
    made = kit(*SHOP, "The importer logs to stderr", script=KEEP_FIRST)
    outcome = await made.run("why does the importer give up?")
    assert (outcome.outcome, outcome.reason) == ("injected", None)
    assert texts(outcome) == [IMPORTER]
    assert outcome.found == 2
    assert outcome.block.text.count(IMPORTER) == 1
    assert [request.stage for request in made.model.requests] == ["recall/queries", "recall/judge"]


@pytest.mark.spec("pi/R-01")
@pytest.mark.parametrize("recall", [{"enabled": False}, {"mode": "off"}])
async def test_switched_off_is_skipped_and_costs_nothing(kit, recall):
    made = kit(*SHOP, script=KEEP_FIRST, recall=recall)
    outcome = await made.run("why does the importer give up?")
    assert outcome.outcome == "skipped" and "is off" in outcome.reason
    assert made.model.requests == [] and made.bank.calls == []


@pytest.mark.parametrize("prompt", ["", "  \n", "?!", "…"])
async def test_a_prompt_without_letter_or_digit_costs_no_call(kit, prompt):
    made = kit(*SHOP, script=KEEP_FIRST)
    outcome = await made.run(prompt)
    assert outcome.outcome == "skipped"
    assert made.model.requests == [] and made.bank.calls == []


@pytest.mark.spec("pi/R-02", "br/BR-35")
async def test_the_ceiling_aborts_everything(kit):
    made = kit(
        bank_objects={"shop": HangingBank("shop")}, script=KEEP_FIRST, recall={"timeout_ms": 50}
    )
    outcome = await made.run("why does the importer give up?")
    assert (outcome.outcome, outcome.block) == ("failed", None)
    assert "0.05 s" in outcome.reason


@pytest.mark.spec("pi/R-02")
async def test_a_hanging_planner_costs_the_model_and_not_the_turn(kit):
    made = kit(*SHOP, script={"recall/queries": HANG}, recall={"timeout_ms": 60})
    outcome = await made.run("importer retries?")
    assert outcome.outcome == "degraded"
    assert texts(outcome) == [IMPORTER]


@pytest.mark.spec("pi/R-02", "br/BR-35")
async def test_any_exception_is_a_failure_with_a_reason(kit):
    class Broken:
        @hookimpl
        def hindsight_plan_recall(self, turn):
            raise ZeroDivisionError("oops")

    outcome = await kit(*SHOP, plugins=[Broken()]).run("why?")
    assert (outcome.outcome, outcome.block, outcome.hits) == ("failed", None, ())
    assert outcome.reason == "ZeroDivisionError: oops"


@pytest.mark.spec("pi/R-07", "pi/R-11")
async def test_no_answer_of_the_planner_is_degraded_and_unjudged(kit):
    made = kit(*SHOP, script={"recall/queries": ProviderError("down")})
    outcome = await made.run("the importer retries for ever")
    assert outcome.outcome == "degraded"
    assert outcome.reason.endswith("(degraded)") and "down" in outcome.reason
    assert texts(outcome) == [IMPORTER]
    assert made.model.asked("recall/judge") == []


@pytest.mark.spec("pi/L-06")
async def test_without_any_model_the_prompt_is_searched(kit):
    outcome = await kit(*SHOP).run("why does the importer give up after a while?")
    assert outcome.outcome == "degraded"
    assert "no model" in outcome.reason
    assert texts(outcome) == [IMPORTER]


async def test_plain_mode_asks_no_model_and_is_not_degraded(kit):
    made = kit(*SHOP, script=KEEP_FIRST, recall={"mode": "plain"})
    outcome = await made.run("why does the importer give up after a while?")
    assert (outcome.outcome, texts(outcome)) == ("injected", [IMPORTER])
    assert made.model.requests == []


@pytest.mark.spec("pi/R-09")
async def test_a_plan_without_queries_calls_no_bank(kit):
    script = {"recall/queries": '{"queries": [], "reason": "small talk"}'}
    made = kit(*SHOP, script=script)
    outcome = await made.run("thanks!")
    assert (outcome.outcome, outcome.reason) == ("skipped", "small talk")
    assert made.bank.calls == []


@pytest.mark.spec("pi/R-10")
async def test_queries_are_searched_in_parallel(kit):
    class Meeting(FakeBank):
        """Answers only when two searches are under way at once."""

        def __init__(self):
            super().__init__("shop")
            self.barrier = asyncio.Barrier(2)

        async def recall(self, query):
            await self.barrier.wait()
            return []

    script = {"recall/queries": '{"queries": ["a b", "c d"]}'}
    made = kit(bank_objects={"shop": Meeting()}, script=script, recall={"timeout_ms": 2000})
    assert (await made.run("two subjects")).outcome == "empty"


class FailsFor(FakeBank):
    """Fails for one query."""

    def __init__(self, word, bank_id="shop"):
        super().__init__(bank_id)
        self.word = word

    async def recall(self, query):
        if self.word in query.text:
            raise BankError("503 from the bank")
        return await super().recall(query)


TWO = {
    "recall/queries": '{"queries": ["importer retries", "logo"]}',
    "recall/judge": '{"score": 80, "keep": [1]}',
}


@pytest.mark.spec("pi/R-10")
async def test_a_failed_search_does_not_hurt_the_others(kit, fact):
    bank = FailsFor("logo")
    bank.facts = {"1": fact(IMPORTER, id="1")}
    outcome = await kit(bank_objects={"shop": bank}, script=TWO).run("importer and logo")
    assert (outcome.outcome, texts(outcome)) == ("injected", [IMPORTER])
    assert "503" in outcome.details["incomplete"]


@pytest.mark.spec("pi/R-10", "br/BR-35")
async def test_nothing_found_while_a_search_failed_is_not_empty(kit):
    outcome = await kit(bank_objects={"shop": FailsFor("logo")}, script=TWO).run("importer")
    assert outcome.outcome == "failed"
    assert "1 of 2 searches failed" in outcome.reason and "503" in outcome.reason


@pytest.mark.spec("br/BR-35")
async def test_a_bank_that_is_down_is_failed_and_nothing_is_injected(kit):
    made = kit(*SHOP, script=TWO)
    made.bank.failing = BankError("401 unauthorised")
    outcome = await made.run("importer and logo")
    assert (outcome.outcome, outcome.block) == ("failed", None)
    assert "401 unauthorised" in outcome.reason


@pytest.mark.spec("pi/R-17", "br/BR-35")
async def test_an_empty_bank_is_empty(kit):
    outcome = await kit(script=ONE).run("why does the importer give up?")
    assert (outcome.outcome, outcome.reason) == ("empty", "the bank returned no facts")
    assert outcome.block is None


@pytest.mark.spec("pi/R-17")
@pytest.mark.parametrize("answer", ['{"score": 0, "keep": []}', '{"score": 0, "keep": [1]}'])
async def test_judged_irrelevant(kit, answer):
    outcome = await kit(*SHOP, script={**ONE, "recall/judge": answer}).run("importer?")
    assert (outcome.outcome, outcome.reason) == ("empty", "judged irrelevant")


@pytest.mark.spec("pi/R-14", "pi/R-17")
async def test_a_weak_query_is_dropped(kit):
    script = {**ONE, "recall/judge": '{"score": 24, "keep": [1]}'}
    outcome = await kit(*SHOP, script=script).run("importer?")
    assert outcome.outcome == "empty"
    assert "best score 24, 25 needed" in outcome.reason


@pytest.mark.spec("pi/R-11")
async def test_a_failed_judge_keeps_the_candidates(kit):
    script = {**ONE, "recall/judge": ProviderError("overloaded")}
    outcome = await kit(*SHOP, script=script).run("importer?")
    assert (outcome.outcome, texts(outcome)) == ("degraded", [IMPORTER])
    assert "judge" in outcome.reason


@pytest.mark.spec("pi/R-11")
async def test_the_judge_can_be_off(kit):
    made = kit(*SHOP, script=ONE, recall={"filter": "off"})
    outcome = await made.run("importer?")
    assert (outcome.outcome, texts(outcome)) == ("injected", [IMPORTER])
    assert made.model.asked("recall/judge") == []


@pytest.mark.spec("pi/R-16", "pi/R-17", "br/BR-65", "br/BR-19")
async def test_shown_once_until_a_compaction_empties_the_set(kit):
    made = kit("Payments retry 3 times.")
    first = await made.run("payment retry? payments retry?")
    assert texts(first) == ["Payments retry 3 times."]
    shown = frozenset(shown_by(first))
    second = await made.run("payments retry, again?", shown=shown)
    assert (second.outcome, second.skipped_shown) == ("empty", 1)
    assert "before the model already" in second.reason
    assert texts(await made.run("how often do payments retry?")) == texts(first)
    assert texts(await made.run("payments retry?", session_id="other")) == texts(first)


@pytest.mark.spec("pi/R-18")
async def test_only_injected_facts_count_as_shown(kit):
    made = kit(*(f"importer fact {n}" for n in range(12)), recall={"max_lines": 5})
    outcome = await made.run("importer fact")
    assert (len(outcome.hits), outcome.skipped_filtered) == (5, 7)
    assert shown_by(outcome) == keys(outcome.hits)
    assert len(shown_by(outcome)) == 5


@pytest.mark.spec("pi/R-14")
@pytest.mark.parametrize(
    ("turn", "recall", "lines"),
    [
        ({}, {}, 8),
        ({"is_child": True}, {}, 4),
        ({"max_lines": 24}, {}, 12),
        ({}, {"max_lines": 2}, 2),
    ],
)
async def test_line_caps(kit, turn, recall, lines):
    made = kit(*(f"importer fact {n}" for n in range(12)), recall=recall)
    assert len((await made.run("importer fact", **turn)).hits) == lines


async def test_a_child_may_be_without_recall(kit):
    made = kit(*SHOP, recall={"child_max_lines": 0})
    assert (await made.run("importer?", is_child=True)).outcome == "skipped"


@pytest.mark.spec("br/BR-32")
@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("why does the importer give up after a while?", [IMPORTER]),
        ("ok, continue", []),
        ("write a haiku about rain", []),
    ],
)
async def test_unrelated_facts_are_not_injected_without_a_judge(kit, prompt, expected):
    made = kit(*SHOP, "Continue the rollout after a while", "Write about it at 5")
    assert texts(await made.run(prompt)) == expected


@pytest.mark.spec("pi/D-30")
async def test_degraded_keywords_do_not_flood_the_turn(kit):
    facts = [f"the new bank {n} has a loader that {n} likes" for n in range(200)]
    made = kit(*facts, "src/recall.ts: the judge reads the config", script={"x": "y"})
    outcome = await made.run(
        "Please fix the src/recall.ts judge and the config of the billing page"
    )
    assert texts(outcome) == ["src/recall.ts: the judge reads the config"]


@pytest.mark.spec("br/BR-13")
async def test_banks_do_not_mix(kit):
    banks = {"shop": ["auth.py in shop uses JWT"], "blog": ["auth.py in blog uses cookies"]}
    made = kit(banks=banks)
    shop, blog = await asyncio.gather(
        made.run("how does auth.py work?", banks=("shop",)),
        made.run("how does auth.py work?", banks=("blog",)),
    )
    assert texts(shop) == ["auth.py in shop uses JWT"]
    assert texts(blog) == ["auth.py in blog uses cookies"]


async def test_two_banks_are_searched_and_named(kit):
    banks = {"shop": ["the importer is slow"], "me": ["the importer is mine"]}
    outcome = await kit(banks=banks).run("importer?")
    assert sorted(hit.bank for hit in outcome.hits) == ["me", "shop"]
    assert "· shop] the importer is slow" in outcome.block.text


@pytest.mark.spec("br/BR-16")
async def test_the_same_sentence_is_one_line(kit, fact):
    bank = FakeBank("shop")
    same = ["Queue prefetch is 50", "- queue  prefetch is 50", "queue prefetch IS 50"]
    bank.facts = {str(n): fact(text, id=str(n)) for n, text in enumerate(same)}
    outcome = await kit(bank_objects={"shop": bank}).run("queue prefetch")
    assert (outcome.found, len(outcome.hits)) == (3, 1)


@pytest.mark.spec("br/BR-61")
@pytest.mark.parametrize("prompt", ["hello again", "go on", "thanks, next"])
async def test_small_talk_brings_nothing_back(kit, prompt):
    made = kit("the org acme-test exists since 2026", "the temp branch is gone, hello again")
    assert (await made.run(prompt)).block is None


@pytest.mark.spec("pi/R-19", "br/BR-08")
async def test_what_a_bank_gives_is_sanitised_and_one_line(kit):
    made = kit("importer\n retries </hindsight-memory>\x00 5 times")
    outcome = await made.run("importer retries")
    assert "\n" not in texts(outcome)[0] and "\x00" not in texts(outcome)[0]
    assert outcome.block.text.count("</hindsight-memory>") == 1


async def test_filters_run_before_the_judge(kit):
    class Masks:
        @hookimpl
        def hindsight_filter_hits(self, turn, query, hits):
            return [hit for hit in hits if "secret" not in hit.fact.text]

    made = kit("importer secret", "importer open", script=KEEP_FIRST, plugins=[Masks()])
    assert texts(await made.run("importer?")) == ["importer open"]
    assert "secret" not in made.model.asked("recall/judge")[0].messages[0].content


async def test_a_plugins_plan_and_reminder_are_used(kit, settings):
    class Plans:
        @hookimpl
        def hindsight_plan_recall(self, turn):
            return Plan(reason="not now")

        @hookimpl
        def hindsight_remind(self, turn):
            return None if turn.injects else "There is a memory."

    outcome = await kit(*SHOP, plugins=[Plans()]).run("importer?")
    assert (outcome.outcome, outcome.reason) == ("skipped", "not now")
    assert outcome.block.kind == "reminder" and "There is a memory." in outcome.block.text


async def test_a_reminder_comes_with_or_without_facts(kit):
    class Reminds:
        @hookimpl
        def hindsight_remind(self, turn):
            return "There is a memory."

    made = kit(*SHOP, plugins=[Reminds()])
    with_facts = await made.run("importer retries?")
    alone = await made.run("weather tomorrow?")
    assert with_facts.block.kind == "recall" and "There is a memory." in with_facts.block.text
    assert (alone.outcome, alone.block.kind) == ("empty", "reminder")
    assert shown_by(alone) == ()
    child = await made.run("importer retries?", is_child=True)
    assert "There is a memory." not in child.block.text


async def test_a_failing_reminder_does_not_cost_the_facts(kit):
    class Fails:
        @hookimpl
        def hindsight_remind(self, turn):
            raise ValueError("no")

    assert texts(await kit(*SHOP, plugins=[Fails()]).run("importer retries?")) == [IMPORTER]


async def test_watchers_are_told_and_cannot_take_it_back(kit):
    class Fails:
        @hookimpl
        def hindsight_after_recall(self, turn, outcome):
            raise ValueError("no")

    watcher = Watcher()
    outcome = await kit(*SHOP, plugins=[Fails(), watcher]).run("importer retries?")
    assert outcome.outcome == "degraded"


async def test_a_cancelled_turn_leaves_no_trace(kit):
    watcher = Watcher()
    made = kit(bank_objects={"shop": HangingBank("shop")}, plugins=[watcher])
    task = asyncio.create_task(made.run("importer retries?"))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert watcher.outcomes == [] and made.log.entries == []


@pytest.mark.spec("pi/R-21")
async def test_a_template_that_renders_nothing_injects_nothing(kit, template_dir):
    made = kit(*SHOP, templates=template_dir("blocks/recall", "{# nothing #}"))
    outcome = await made.run("importer retries?")
    assert (outcome.outcome, outcome.block, shown_by(outcome)) == ("empty", None, ())


@pytest.mark.spec("br/BR-32")
async def test_configured_floors_by_part_of_the_score(kit):
    facts = ("importer retries", "importer")
    made = kit(*facts, recall={"min_scores": {"words": 0.9, "vectors": 0.9}})
    assert texts(await made.run("importer retries")) == ["importer retries"]


async def test_a_bank_that_is_not_open_is_a_failure(kit):
    outcome = await kit(*SHOP).run("importer?", banks=("elsewhere",))
    assert outcome.outcome == "failed" and "elsewhere" in outcome.reason
