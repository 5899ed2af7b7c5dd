from __future__ import annotations

import pytest

from hindsight_core.errors import BudgetExceeded, ProviderError
from hindsight_core.recall.planner_judged import plan_judged
from hindsight_core.testing.models import HANG
from hindsight_core.turns import Turn

PROMPT = "Please fix the src/recall.ts judge and the config loader for the new bank, thanks"
KEYWORDS = ["please fix src/recall.ts", "judge config loader", "new bank thanks"]


@pytest.fixture
def plan(kit):
    async def make(reply, *, prompt=PROMPT, entries=(), timeout_s=5.0, **recall):
        script = {"recall/queries": reply, "recall/queries+repair": "no JSON again"}
        made = kit(script=script, recall=recall)
        turn = Turn(id="t", session_id="s", prompt=prompt, entries=tuple(entries))
        found = await plan_judged(made.settings, made.stages, turn, timeout_s=timeout_s)
        return found, made.model

    return make


def texts(plan):
    return [query.text for query in plan.queries]


@pytest.mark.spec("pi/R-03", "pi/R-05")
async def test_queries_of_the_model(plan):
    found, _ = await plan('{"queries": [" cart  TTL ", "cart TTL", "", 7, "deploy"]}')
    assert texts(found) == ["cart TTL", "deploy"]
    assert (found.judge, found.degraded, found.reason) == (True, False, None)


@pytest.mark.spec("pi/R-05")
@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ('{"query": "cart ttl"}', ["cart ttl"]),
        ('{"shouldQuery": true, "op": "reflect", "queries": ["cart ttl"]}', ["cart ttl"]),
        ('{"shouldQuery": false, "queries": ["cart ttl"], "reason": "no"}', []),
    ],
)
async def test_older_answers_are_understood(plan, reply, expected):
    found, _ = await plan(reply)
    assert texts(found) == expected


@pytest.mark.spec("pi/R-06")
@pytest.mark.parametrize(
    ("recall", "count"),
    [({"effort": "light"}, 2), ({}, 3), ({"effort": "thorough"}, 5), ({"max_queries": 1}, 1)],
)
async def test_the_ceiling_is_code(plan, recall, count):
    found, _ = await plan('{"queries": ["a", "b", "c", "d", "e", "f"]}', **recall)
    assert texts(found) == ["a", "b", "c", "d", "e", "f"][:count]


@pytest.mark.spec("pi/R-07")
@pytest.mark.parametrize(
    "reply",
    [ProviderError("model is down"), "I would search for the judge.", BudgetExceeded("used up")],
    ids=["down", "prose", "budget"],
)
async def test_a_failed_model_leaves_the_keywords(plan, reply):
    found, _ = await plan(reply)
    assert texts(found) == KEYWORDS
    assert (found.judge, found.degraded) == (False, True)
    assert found.reason.endswith("(degraded)")


@pytest.mark.spec("pi/R-07")
async def test_a_model_that_hangs_costs_its_share_only(plan):
    found, _ = await plan(HANG, timeout_s=0.02)
    assert texts(found) == KEYWORDS
    assert "no answer within 0.02 s" in found.reason


@pytest.mark.spec("pi/R-07")
async def test_without_a_keyword_the_turn_is_skipped_with_the_reason(plan):
    found, _ = await plan(ProviderError("model is down"), prompt="a b c")
    assert found.queries == ()
    assert "model is down" in found.reason


@pytest.mark.spec("pi/R-09")
async def test_a_plan_without_queries_keeps_its_reason(plan):
    found, _ = await plan('{"queries": [], "reason": "small talk"}')
    assert (found.queries, found.reason, found.degraded) == ((), "small talk", False)


@pytest.mark.spec("pi/D-18")
@pytest.mark.parametrize(
    "reply", ['{"shouldQuery":false,"queries":[]}', '```json\n{"queries": []}\n```']
)
async def test_an_empty_answer_is_an_answer_and_no_failure(plan, reply):
    found, _ = await plan(reply)
    assert found.queries == ()
    assert found.reason and not found.degraded


@pytest.mark.spec("pi/D-18")
async def test_fences_do_not_switch_the_judge_off(plan):
    found, _ = await plan('```json\n{"queries": ["cart ttl"]}\n```')
    assert (texts(found), found.judge) == (["cart ttl"], True)


@pytest.mark.spec("pi/R-11")
async def test_the_filter_can_be_off(plan):
    found, _ = await plan('{"queries": ["cart ttl"]}', filter="off")
    assert found.judge is False


@pytest.mark.spec("pi/R-03", "pi/X-10", "pi/L-05")
async def test_the_model_sees_request_and_context(plan, entry):
    said = [entry("user", "fix the widget"), entry("assistant", "done")]
    _, model = await plan('{"queries": ["x"]}', prompt="and the other?", entries=said)
    asked = model.requests[0]
    assert (asked.stage, asked.max_tokens) == ("recall/queries", 320)
    assert asked.system.endswith("(hindsight stage: recall/queries)")
    content = asked.messages[0].content
    assert content.index("and the other?") < content.index("user: fix the widget")
    assert content.index("user: fix the widget") < content.index("assistant: done")


async def test_a_huge_prompt_is_bounded(plan):
    _, model = await plan('{"queries": ["x"]}', prompt="x" * 500_000, context_tokens=500)
    assert len(model.requests[0].messages[0].content) < 8_000


@pytest.mark.spec("pi/R-10")
async def test_what_the_settings_say_about_a_search(plan):
    found, _ = await plan('{"queries": ["x"]}', max_tokens=512, budget="high", types=["decision"])
    query = found.queries[0]
    assert (query.max_tokens, query.budget) == (512, "high")
    assert query.scope.kinds == ("decision",)
