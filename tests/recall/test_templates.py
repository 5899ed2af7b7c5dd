"""What the prompts of recall demand of a model, and what they must not say."""

from __future__ import annotations

import re

import pytest

from hindsight_core.prompt_contexts_recall import RecallJudge, RecallQueries
from hindsight_core.prompt_fields import FactLine


@pytest.fixture
def queries(prompts):
    return prompts.render("recall/queries", RecallQueries("REQUEST", "CONTEXT"))


@pytest.fixture
def judge(prompts):
    facts = (FactLine("first fact"), FactLine("second fact"))
    return prompts.render("recall/judge", RecallJudge("TASK", "KEY", facts))


@pytest.mark.spec("pi/R-03")
def test_queries_have_two_labelled_blocks(queries):
    request = re.search(r"\[latest request\]\n(.*)\n\[end", queries.text)
    context = re.search(r"\[recent context.*\]\n(.*)\n\[end", queries.text)
    assert (request[1], context[1]) == ("REQUEST", "CONTEXT")


@pytest.mark.spec("pi/R-03")
def test_queries_state_no_maximum_number(queries):
    text = queries.text.lower()
    counts = r"(two|three|four|five|six|eight|[2-9])"
    assert not re.search(rf"\b{counts} (queries|keys|search keys)", text)
    assert not re.search(r"(at most|up to|no more than|maximum|limit)", text)


@pytest.mark.spec("pi/R-04")
@pytest.mark.parametrize(
    "demand",
    [
        "One key is the normal case",
        "separate subject",
        "Never split one subject into what, why and where",
        "3 to 12 words",
        "at least one concrete subject",
        "a path, an identifier, a configuration key, an endpoint, a command",
        "never the request said in other words or translated",
        "would fit any project",
        "you take from the recent context",
        "last resort",
        "whether a concrete subject can be named from request and context",
        "that a request is short",
        "untrusted data",
    ],
)
def test_queries_demand(queries, demand):
    assert demand in queries.text


@pytest.mark.spec("pi/R-12")
def test_judge_has_task_key_and_numbered_facts(judge):
    for part in ("[task]\nTASK\n", "[search key]\nKEY\n", "1. first fact\n2. second fact\n"):
        assert part in judge.text


@pytest.mark.spec("pi/R-13")
@pytest.mark.parametrize(
    "demand",
    [
        "only if the agent can use it",
        "two good facts beat eight loose ones",
        "another subsystem",
        "only says again what the task says",
        "tells what somebody did, how far something is, or what is planned",
        "vague or hedged",
        "contradicts what the task says is true now",
        "An empty choice is a normal",
        "untrusted data",
    ],
)
def test_judge_demands(judge, demand):
    assert demand in judge.text


def test_both_have_a_system_line(queries, judge):
    assert queries.system and judge.system
