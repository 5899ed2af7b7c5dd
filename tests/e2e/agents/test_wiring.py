"""The real programs accept what ``install`` writes, call each tool, and lose nothing by it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from hindsight_core.host import program
from hindsight_core.testing.cli_agents import ToolCall

pytestmark = pytest.mark.timeout(240)
FACT = "The gateway listens on port 8443, because 443 is taken."


def full(asked, tool: str) -> str:
    """A tool's name as the agent offers it: with its own prefix."""
    return next(name for name in asked.tools if name.endswith(tool))


def each_tool(asked):
    """Retain, recall, reflect, forget, then a word."""
    done = len(asked.results)
    if done == 0:
        return ToolCall(full(asked, "hindsight_retain"), {"content": FACT, "kind": "decision"})
    if done == 1:
        return ToolCall(full(asked, "hindsight_recall"), {"query": "gateway port"})
    if done == 2:
        return ToolCall(full(asked, "hindsight_reflect"), {"query": "Which gateway port?"})
    if done == 3:
        fact = re.search(r"\[(shop:\w+)\]", asked.results[1])
        wanted = {"id": fact[1] if fact else "none", "reason": "moved"}
        return ToolCall(full(asked, "hindsight_forget"), wanted)
    return "All four were called."


def test_each_tool_is_offered_and_called(agent, model):
    agent.mem("install", agent.name)
    model.reply = each_tool

    said = agent.say("Use the memory.")

    retained, recalled, reflected, forgotten = model.conversation()[-1].results
    assert "All four were called." in said
    assert "retained" in retained
    assert "8443" in recalled and "shop:" in recalled
    assert "8443" in reflected
    assert "retired" in forgotten
    assert agent.facts() == []


def test_the_skill_is_offered(agent):
    agent.mem("install", agent.name)

    agent.say("Hello.")

    assert "hindsight-memory" in agent.seen()


def test_installed_twice_and_out_again_leaves_the_files_as_they_were(agent):
    before = {p: p.read_text() for p in agent.home.rglob("*") if p.is_file()}
    agent.mem("install", agent.name)
    agent.mem("install", agent.name)
    agent.mem("uninstall", agent.name)
    after = {
        p: p.read_text()
        for p in agent.home.rglob("*")
        if p.is_file() and not p.name.endswith(".hindsight-backup")
    }

    assert after == before
    agent.say("Hello.")
    assert "hindsight" not in agent.seen()


def test_a_package_that_is_gone_costs_no_prompt(agent, model):
    agent.mem("install", agent.name)
    for path in agent.home.rglob("*"):
        if path.suffix in (".json", ".toml") and program()[0] in path.read_text():
            path.write_text(path.read_text().replace(program()[0], "/nowhere/bin/hindsight-mem"))
    model.reply = lambda asked: "It goes on."

    assert "It goes on." in agent.say("Hello.")


def test_what_the_agent_wrote_into_its_own_file_meanwhile_stays(agent):
    agent.mem("install", agent.name)
    agent.say("Hello.")
    agent.mem("uninstall", agent.name)

    state = Path(agent.home / ".claude.json")
    if agent.name == "claude-code":
        assert json.loads(state.read_text())["hasCompletedOnboarding"] is True
        assert "hindsight" not in state.read_text().replace("hindsight-memory", "")
    agent.say("Hello again.")
