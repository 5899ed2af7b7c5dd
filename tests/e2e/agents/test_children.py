"""Sub-agents of the real programs: what one is told is its own talk, nothing of it is stored."""

from __future__ import annotations

import time

import pytest

from hindsight_core.testing.cli_agents import ToolCall

pytestmark = pytest.mark.timeout(240)
HERON = "Remember that the staging cluster is called heron."
CHILD = "CHILD: remember that the other cluster is called magpie."
STARTS = {
    "Agent": {"description": "look", "prompt": CHILD, "subagent_type": "general-purpose"},
    "spawn_agent": {"message": CHILD, "task_name": "look"},
}


def delegates(asked):
    """Start a sub-agent first; it says something that is no fact either."""
    starts = [tool for tool in STARTS if tool in asked.tools]
    if "CHILD:" in asked.user:
        return "Remember that the third cluster is called jackdaw."
    return ToolCall(starts[0], STARTS[starts[0]]) if starts and not asked.results else "All done."


@pytest.mark.spec("br/BR-25")
def test_only_what_the_person_said_is_stored(resident, model):
    resident.mem("install", resident.name)
    model.reply = delegates

    resident.say(HERON)
    end = time.monotonic() + 30
    while not resident.facts() and time.monotonic() < end:
        time.sleep(0.1)

    # Gemini CLI has no tool that starts one.
    assert resident.name == "gemini" or any(asked.results for asked in model.conversation())
    facts = " ".join(resident.facts())
    assert "heron" in facts
    assert "magpie" not in facts and "jackdaw" not in facts
