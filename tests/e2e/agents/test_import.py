"""Sessions that real agents kept, imported: twice is once, and what ran with memory is known."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.timeout(240)
GATEWAY = "The API gateway listens on port 8443 behind nginx."


def imported(agent, *options: str):
    return json.loads(agent.mem("import", "sessions", agent.name, "--json", *options))


def test_kept_sessions_are_imported_once(agent):
    agent.say(f"Remember that {GATEWAY}")
    agent.say("Which port does the API gateway listen on?")

    looked = imported(agent, "--dry-run")
    assert looked["banks"]["shop"]["new"] == 2
    assert agent.facts() == []

    first = imported(agent)
    assert [row["cwd"] for row in first["sessions"]] == [str(agent.project)] * 2
    assert sum("8443" in fact for fact in agent.facts()) == 1

    before = agent.facts()
    second = imported(agent)
    assert {row["outcome"] for row in second["sessions"]} == {"known"}
    assert agent.facts() == before


@pytest.mark.spec("br/BR-05")
def test_a_session_that_ran_with_memory_is_known(agent):
    agent.mem("install", agent.name)
    agent.say(f"Remember that {GATEWAY}")
    before = agent.facts()

    [row] = imported(agent)["sessions"]

    # A slow machine may leave it in the journal, which an agent's end grants little time.
    assert row["new"] == 0 or before == []
    assert sum("8443" in fact for fact in agent.facts()) == 1
    [row] = imported(agent)["sessions"]
    assert (row["outcome"], row["new"]) == ("known", 0)
    assert sum("8443" in fact for fact in agent.facts()) == 1
