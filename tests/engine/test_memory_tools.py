"""The tools of active memory, as an agent calls them."""

from __future__ import annotations

from typing import Any

import pytest

PNPM = "This project uses pnpm and never npm."
PORT = "The API gateway listens on port 8443 behind nginx."
SETTINGS = {"profile": "active-memory"}


@pytest.fixture
def active(new_memory):
    memory = new_memory(settings=SETTINGS, replies={"*": "NONE"})
    for text in (PNPM, PORT):
        memory.remember(text)
    return memory


def own_id(memory: Any, text: str) -> str:
    (found,) = [fact.id for fact in memory.facts() if fact.text == text]
    return found


def steer(memory: Any, *texts: str) -> str:
    """A token under which these were sent."""
    ids = [own_id(memory, text) for text in texts]
    return memory.run(memory.runtime.active.shown(ids, session_id="session"))


def rate(memory: Any, token: str, text: str, outcome: str = "useful", **more: Any) -> Any:
    given = {"steerToken": token, "outcome": outcome, "reason": "it changed the command"}
    given["memoryId"] = f"{memory.runtime.bank_id}:{own_id(memory, text)}"
    return memory.tool("memory_feedback", **{**given, **more})


@pytest.mark.spec("am/A-TOOL")
def test_the_four_tools_have_a_line_and_rules_for_the_hosts_prompt(active, new_memory):
    tools = active.tools()
    named = {name for name in tools if name.startswith("memory_")}
    assert named == {
        "memory_search",
        "memory_store_result",
        "memory_correct",
        "memory_feedback",
    }
    for name in named:
        assert tools[name]["snippet"]
        assert all(name in rule for rule in tools[name]["guidelines"])
    assert "snippet" not in tools["hindsight_recall"]
    assert not [name for name in new_memory(settings={}).tools() if name.startswith("memory_")]


@pytest.mark.spec("am/A-CFG-2")
def test_lines_and_rules_of_ones_own(new_memory):
    own = {"prompts": {"tools/memory_feedback.guidelines": "Rate sparingly.\nAlways."}}
    tools = new_memory(settings={**SETTINGS, **own}).tools()
    assert tools["memory_feedback"]["guidelines"] == ["Rate sparingly.", "Always."]
    assert tools["memory_feedback"]["snippet"] == "Rate a memory that was sent to you"


@pytest.mark.spec("am/A-TOOL")
def test_search_shows_where_a_memory_is_from(active):
    found = active.tool("memory_search", query="api gateway port")
    (line,) = found.content.splitlines()
    assert PORT in line
    for part in (own_id(active, PORT), "assistant", "project", "confidence 0.50", "cause:"):
        assert part in line
    (hit,) = found.details["hits"]
    assert hit["id"] == f"{active.runtime.bank_id}:{own_id(active, PORT)}"
    assert hit["confidence"] == 0.5
    assert found.details["outcome"] == "ok"


@pytest.mark.spec("am/A-TOOL")
@pytest.mark.parametrize(
    ("scope", "outcome"), [("both", "ok"), ("project", "ok"), ("global", "empty")]
)
def test_search_in_a_scope(active, scope, outcome):
    found = active.tool("memory_search", query="api gateway port", scope=scope)
    assert found.details["outcome"] == outcome


@pytest.mark.spec("am/A-TOOL")
def test_search_is_wider_than_what_it_shows(new_memory):
    memory = new_memory(settings=SETTINGS, replies={"*": "NONE"})
    for number in range(12):
        memory.remember(f"Service number {number} of the shop listens on port 80{number:02d}.")
    assert len(memory.tool("memory_search", query="shop service port").details["hits"]) == 8
    few = memory.tool("memory_search", query="shop service port", limit=3)
    assert len(few.details["hits"]) == 3


@pytest.mark.parametrize(
    "arguments",
    [{}, {"query": " "}, {"query": "x", "scope": "all"}, {"query": "x", "limit": 0}],
)
def test_wrong_arguments_are_told(active, arguments):
    assert active.tool("memory_search", **arguments).is_error


@pytest.mark.spec("am/A-FB-4", "am/A-TOOL")
def test_feedback_tells_the_new_confidence(active):
    result = rate(active, steer(active, PNPM), PNPM)
    assert "0.60" in result.content
    assert result.details["accepted"] is True
    assert result.details["confidence"] == pytest.approx(0.6)


@pytest.mark.spec("am/A-FB-4")
def test_feedback_moves_the_ranking(new_memory):
    memory = new_memory(settings=SETTINGS, replies={"*": "NONE"})
    first = "The staging gateway of the shop listens on port 8443."
    second = "The staging gateway of the shop listens on address zero."
    for text in (first, second):
        memory.remember(text)

    def best() -> str:
        found = memory.tool("memory_search", query="staging gateway shop listens")
        return found.details["hits"][0]["text"]

    top = best()
    for _ in range(2):
        rate(memory, steer(memory, top), top, "unhelpful")
    assert best() == ({first, second} - {top}).pop()


@pytest.mark.spec("am/A-FB-4")
@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"steerToken": "made-up"}, "unknown_token"),
        ({"memoryId": "plugin-test:other"}, "not_in_steer"),
    ],
)
def test_feedback_that_does_not_count_says_why(active, more, reason):
    result = rate(active, steer(active, PNPM), PNPM, **more)
    assert result.details["accepted"] is False
    assert result.details["reason"] == reason
    assert not result.is_error


@pytest.mark.spec("am/A-FB-4")
def test_once_for_each_steer_and_only_what_is_active(active):
    token = steer(active, PNPM, PORT)
    assert rate(active, token, PNPM).details["accepted"] is True
    assert rate(active, token, PNPM).details["reason"] == "duplicate"
    retired = own_id(active, PORT)
    active.run(active.runtime.active.delete(retired, reason="wrong"))
    result = rate(active, token, PNPM, memoryId=retired)
    assert (result.details["accepted"], result.details["reason"]) == (False, "inactive")


@pytest.mark.spec("am/A-FB-4")
@pytest.mark.parametrize("more", [{"reason": " "}, {"outcome": "great"}, {"steerToken": ""}])
def test_feedback_without_a_reason_is_an_error(active, more):
    result = rate(active, steer(active, PNPM), PNPM, **more)
    assert result.is_error
    assert result.details == {"outcome": "failed"}


@pytest.mark.spec("am/A-CORR", "am/A-TOOL")
def test_a_wrong_memory_of_an_agent_is_corrected(active):
    own = own_id(active, PORT)
    right = "The API gateway listens on port 9443 behind nginx."
    given = {"memoryId": f"{active.runtime.bank_id}:{own}", "correctedText": right}
    result = active.tool("memory_correct", **given, reason="the config says 9443")
    assert (result.is_error, result.details["outcome"]) == (False, "corrected")
    assert right in [fact.text for fact in active.facts()]
    assert PORT not in [fact.text for fact in active.facts()]


@pytest.mark.spec("am/A-CORR")
@pytest.mark.parametrize(
    "change", [{"reason": " "}, {"correctedText": PORT}, {"memoryId": "nothing"}]
)
def test_a_correction_that_makes_no_sense_is_an_error(active, change):
    given = {"memoryId": own_id(active, PORT), "correctedText": "Port 1.", "reason": "looked"}
    result = active.tool("memory_correct", **{**given, **change})
    assert result.is_error
    assert PORT in [fact.text for fact in active.facts()]


@pytest.mark.spec("am/A-ASST-4")
def test_a_finding_without_an_investigation_is_an_error(active):
    given = {"text": "The build needs zlib.", "kind": "fact", "scope": "project"}
    result = active.tool("memory_store_result", **given, confidence=0.9, reason="an hour")
    assert result.is_error
    assert "no investigation" in result.content


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "user_profile"},
        {"scope": "x"},
        {"confidence": 2},
        {"confidence": "high"},
        {"text": ""},
    ],
)
def test_a_finding_with_wrong_arguments_is_an_error(active, change):
    given = {"text": "The build needs zlib.", "kind": "fact", "scope": "project"}
    given |= {"confidence": 0.9, "reason": "an hour"}
    assert active.tool("memory_store_result", **{**given, **change}).is_error
