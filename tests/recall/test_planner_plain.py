from __future__ import annotations

import pytest

from hindsight_core.recall.planner_plain import is_follow_up, plan_keywords, plan_plain
from hindsight_core.turns import Turn


@pytest.fixture
def turn(entry):
    def make(prompt):
        said = (
            entry("user", "the importer drops rows"),
            entry("tool", "Traceback ..."),
            entry("assistant", "It gives up after 5 retries."),
        )
        return Turn(id="t", session_id="s1", prompt=prompt, entries=said)

    return make


def test_the_prompt_is_the_query(settings, turn):
    plan = plan_plain(settings(), turn("why does the importer give up on large files?"))
    assert [q.text for q in plan.queries] == ["why does the importer give up on large files?"]
    assert (plan.queries[0].context, plan.judge, plan.degraded) == (None, False, False)


def test_a_follow_up_brings_the_conversation(settings, turn):
    query = plan_plain(settings(), turn("and how do we change that?")).queries[0]
    assert query.context == "the importer drops rows\nIt gives up after 5 retries."


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("why?", True),
        ("and for staging?", True),
        ("does it apply to invoices in the export job?", True),
        ("und warum nicht beim Export der Rechnungen?", True),
        ("А где хранится таблица заказов магазина?", True),
        ("它的超时是多少", True),
        ("why does the importer give up on large files?", False),
        ("set CART_TTL for staging", False),
    ],
)
def test_follow_ups(prompt, expected):
    assert is_follow_up(prompt) is expected


def test_a_huge_prompt_is_cut_at_both_ends(settings, turn):
    query = plan_plain(settings(), turn("start " + "x" * 100_000 + " end")).queries[0]
    assert len(query.text) <= 800
    assert query.text.startswith("start") and query.text.endswith("end")


@pytest.mark.spec("pi/R-07")
def test_without_a_model_the_plan_says_so(settings, turn):
    plan = plan_plain(settings(), turn("why?"), degraded="no model")
    assert (plan.degraded, plan.reason) == (True, "no model (degraded)")


@pytest.mark.spec("pi/R-07", "pi/R-06")
def test_keywords_within_the_ceiling(settings, turn):
    prompt = " ".join(f"word{n}" for n in range(30))
    plan = plan_keywords(settings(recall={"effort": "light"}), turn(prompt), reason="down")
    assert len(plan.queries) == 2
    assert (plan.judge, plan.degraded) == (False, True)


def test_only_this_session_when_asked_for(settings, turn):
    plan = plan_plain(settings(recall={"same_session_only": True}), turn("cart ttl value?"))
    assert plan.queries[0].scope.session_id == "s1"
