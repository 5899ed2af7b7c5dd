"""The real programs accept what ``install`` writes, call each tool, and lose nothing by it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from hindsight_core.testing.cli_agents import ToolCall

pytestmark = pytest.mark.timeout(240)
FACT = "The gateway listens on port 8443, because 443 is taken."
GONE = {
    "the environment": r"/[^\s\"']*/bin/(?:python[\d.]*|hindsight-mem)\b",
    "the package": r"\bhindsight_core\b",
}


def full(asked, tool: str) -> str | None:
    """A tool's name as the agent offers it: with its own prefix; None while it is not there."""
    return next((name for name in asked.tools if name.endswith(tool)), None)


def each_tool(asked):
    """Retain, recall, reflect, forget, then a word."""
    if full(asked, "hindsight_retain") is None:
        # Codex does not wait for a server that is not marked as required: a step of its own first.
        wait = full(asked, "exec_command")
        return ToolCall(wait, {"cmd": "sleep 4"}) if wait and not asked.results else "Not yet."
    done = len([result for result in asked.results if "exited with code" not in result])
    if done == 0:
        return ToolCall(full(asked, "hindsight_retain"), {"content": FACT, "kind": "decision"})
    if done == 1:
        return ToolCall(full(asked, "hindsight_recall"), {"query": "gateway port"})
    if done == 2:
        return ToolCall(full(asked, "hindsight_reflect"), {"query": "Which gateway port?"})
    if done == 3:
        fact = re.search(r"\[(shop:\w+)\]", asked.results[-2])
        wanted = {"id": fact[1] if fact else "none", "reason": "moved"}
        return ToolCall(full(asked, "hindsight_forget"), wanted)
    return "All four were called."


def test_each_tool_is_offered_and_called(agent, model):
    agent.mem("install", agent.name)
    model.reply = each_tool

    for _ in range(4):
        said = agent.say("Use the memory.")
        if "All four" in said:
            break

    retained, recalled, reflected, forgotten = model.conversation()[-1].results[-4:]
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


@pytest.mark.parametrize("gone", ["the environment", "the package"])
@pytest.mark.spec("br/BR-01", "br/BR-31")
def test_what_is_gone_costs_no_prompt(agent, model, gone):
    agent.mem("install", agent.name)
    changed = []
    for path in agent.home.rglob("*"):
        before = path.read_text() if path.suffix in (".json", ".toml") else ""
        after = re.sub(GONE[gone], "/nowhere/bin/hindsight_core", before)
        if after != before:
            path.write_text(after)
            changed.append(path)
    assert changed
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
