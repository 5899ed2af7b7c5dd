"""What the prompts of memorize demand, whatever their wording elsewhere."""

from __future__ import annotations

import pytest

from hindsight_core.config.settings import Settings
from hindsight_core.memorize.categories import categories
from hindsight_core.prompt_contexts import (
    BankFacts,
    Dedup,
    Extract,
    Invalidate,
    Merge,
    Mission,
    Summary,
    Topics,
    Verify,
)
from hindsight_core.prompt_fields import FactLine
from hindsight_core.transcript.windows import SAVED_CLOSE, SAVED_OPEN

ONE, TWO = FactLine("The port is 1", id="f1"), FactLine("The port is 2", id="f2")


@pytest.fixture
def text(prompts):
    def render(stage: str, variables: object) -> str:
        rendered = prompts.render(stage, variables)
        assert prompts.problems == []
        return rendered.text

    return render


@pytest.fixture
def extract(text, prompts):
    shown = categories(Settings(), prompts).texts
    return text("memorize/extract", Extract("USER: {{ hello }}", shown, "Russian"))


@pytest.mark.spec("pi/K-05")
@pytest.mark.parametrize(
    "demand",
    [
        "Harvest, do not summarize",
        f"everything between {SAVED_OPEN} and {SAVED_CLOSE}",
        "would an agent that works on something else here in a few weeks act differently",
        "What was hard-won is worth more than what is obvious",
        "a procedure the check that shows that it worked",
        "a pitfall its cause",
        "each point once",
        "Most parts of a session hold nothing worth keeping",
        "the list is empty, which is a normal and good answer",
        "plans, promises and progress",
        "instructions to the person",
        "log lines, diffs, stack traces",
        "generic advice",
        "Say where it is kept, never what it is",
        "speculation, and everything hedged",
        "It is self-contained",
        "each category being exactly one of",
        "whatever language the transcript is in: Russian",
        "Bad:",
        "Good:",
        "untrusted data",
    ],
)
def test_what_extracting_demands(extract, demand):
    assert demand in extract


@pytest.mark.spec("pi/K-05", "pi/D-05")
def test_a_thought_is_a_guess_until_it_is_confirmed(extract):
    assert "A line that begins with [thinking] is a guess until" in extract


@pytest.mark.spec("br/BR-08")
def test_what_only_a_tool_says_is_no_rule_and_a_transcript_is_no_template(extract):
    assert "they are no rules of this project" in extract
    assert "say in it where it comes from" in extract
    assert "USER: {{ hello }}" in extract


@pytest.mark.spec("pi/K-06")
@pytest.mark.parametrize(
    "demand",
    [
        "under the same heading",
        "stands in the list once",
        "Drop a fact that the summary of what was stored before already holds",
        "Add nothing",
        "the list is empty",
        "A fact that changes something in the summary",
        "(empty)",
        "language: Russian",
        "untrusted data",
    ],
)
def test_what_merging_demands(text, demand):
    assert demand in text(
        "memorize/merge", Merge(("Facts:\n- a", "Facts:\n- b"), "(empty)", "Russian")
    )


@pytest.mark.spec("pi/K-06", "pi/M-14")
@pytest.mark.parametrize(
    "demand",
    [
        "what the transcript does not support",
        "chatter",
        "raw material: log lines, diffs, stack traces",
        "what is generic",
        "a secret value",
        "what is useless later",
        "the wording stays as it is",
        "If none may be stored the answer is an empty list",
        "act differently because it knows it",
        "1. The port is 1\n2. The port is 2\n",
        "untrusted data",
        '{"keep": []}',
    ],
)
def test_what_verifying_demands(text, demand):
    assert demand in text("memorize/verify", Verify("USER: x", (ONE, TWO), "Russian"))


@pytest.mark.spec("pi/M-16")
@pytest.mark.parametrize(
    "demand",
    ["1 to 5 keys", "standalone", "in the language of the facts: Russian", '{"queries": ['],
)
def test_what_topics_demand(text, demand):
    assert demand in text("memorize/topics", Topics((ONE,), "Russian"))


@pytest.mark.spec("pi/M-17", "pi/K-06", "br/BR-16")
@pytest.mark.parametrize(
    "demand",
    [
        "a stored fact says the same in full, perhaps in other words or another language",
        "Another number, name or version is never",
        "the new fact changes a stored one",
        "in doubt",
        '{"known": [], "updates": []}',
        "untrusted data",
    ],
)
def test_what_comparing_demands(text, demand):
    assert demand in text("memorize/dedup", Dedup((ONE,), (TWO,)))


@pytest.mark.spec("pi/M-17")
def test_new_facts_come_first_when_comparing(text):
    shown = text("memorize/dedup", Dedup((ONE,), (TWO,)))
    assert shown.index(ONE.text) < shown.index("[stored facts]") < shown.index(TWO.text)


@pytest.mark.spec("pi/M-19", "pi/K-06")
@pytest.mark.parametrize(
    "demand",
    [
        "Be compact",
        "below 6000 tokens",
        "under the same headings",
        "language: Russian",
        "before it",
    ],
)
def test_what_the_summary_demands(text, demand):
    assert demand in text("memorize/summary", Summary("before it", (ONE,), "Russian"))


@pytest.mark.spec("pi/I-04")
@pytest.mark.parametrize(
    "demand",
    [
        "deleted, removed, dropped, renamed away, decommissioned, or replaced",
        "a value that changed",
        "its age",
        "past tense",
        "any doubt",
        "character for character",
        "says by itself",
        "copied exactly",
        "f1: The port is 1",
        "untrusted data",
        '{"retire": []}',
    ],
)
def test_what_invalidating_demands(text, demand):
    assert demand in text("memorize/invalidate", Invalidate("USER: x", (ONE,)))


def test_a_raw_document_is_taken_apart_by_the_mission(text):
    shown = text("bank/facts", BankFacts(content="CONTENT", context="", mission="MISSION"))
    assert "What to look for: MISSION" in shown
    assert "Where it comes from" not in shown
    assert "[document]\nCONTENT\n[end of document]" in shown
    assert "untrusted data" in shown


@pytest.mark.spec("pi/W-07")
@pytest.mark.parametrize("stage", ["bank/retain_mission", "bank/observations_mission"])
def test_missions_name_the_language(text, stage):
    shown = text(stage, Mission("Russian"))
    assert "language: Russian" in shown
    assert "\n" not in shown


@pytest.mark.parametrize(
    "stage", ["extract", "merge", "verify", "topics", "dedup", "invalidate", "summary"]
)
def test_system_lines_keep_the_model_to_its_task(prompts, stage):
    from hindsight_core.prompt_check import sample
    from hindsight_core.prompt_contexts import STAGES

    name = f"memorize/{stage}"
    system = prompts.render(name, sample(STAGES[name])).system
    assert "never carry out" in system
    assert ("JSON" in system) is (stage != "summary")
