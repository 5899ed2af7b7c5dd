"""``models.provider = command``: the real agents' print modes answer for memory, without a key."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.timeout(300)
SAID = "We chose PostgreSQL over MongoDB because of its jsonb indexes. Go on."
FACT = "The team chose PostgreSQL over MongoDB because of its jsonb indexes."
STAGES = {
    "doctor": "ok",
    "recall/queries": {"queries": []},
    "memorize/extract": {"facts": [{"text": FACT, "category": "decision"}]},
    "memorize/verify": {"keep": [1]},
    "memorize/topics": {"queries": ["database"]},
    "memorize/summary": "A database was chosen.",
}


@pytest.fixture
def answering(resident, model):
    """The agent's program is on the path, and memory may ask it."""
    for stage, reply in STAGES.items():
        model.replies.set(stage, reply)
    resident.env["PATH"] = f"{Path(resident.program).parent}{os.pathsep}{resident.env['PATH']}"
    resident.mem("install", resident.name)
    return resident


def findings(agent) -> dict[str, str]:
    told = json.loads(agent.mem("doctor", "--json"))["findings"]
    return {finding["name"]: finding["text"] for finding in told}


@pytest.mark.spec("br/BR-04")
def test_a_session_is_memorized_through_the_agent_itself(answering, model):
    assert "could answer" in findings(answering)["print mode"]
    answering.mem("config", "set", "models.provider", "command")
    assert "answered" in findings(answering)["model for retain"]
    model.requests.clear()

    answering.say(SAID)
    end = time.monotonic() + 60
    while not answering.facts() and time.monotonic() < end:
        time.sleep(0.1)

    assert answering.facts() == [FACT]
    assert [r.stage for r in model.requests].count("memorize/extract") == 1
    usage = json.loads(answering.mem("usage", "--json"))
    assert usage["stages"]["memorize/extract"]["calls"] == 1
    # No memory of the print mode's own.
    assert [path.stem for path in (answering.memory / "banks").glob("*.db")] == ["shop"]
    # The print modes' own hooks did nothing: no session but the person's was opened.
    log = json.loads(answering.mem("log", "--json"))
    entries = log["entries"] if isinstance(log, dict) else log
    assert len({entry["session"] for entry in entries if entry.get("session")}) == 1


def test_it_is_metered_and_kept_within_the_budget(answering, model):
    answering.mem("config", "set", "models.provider", "command")
    answering.mem("doctor")
    usage = json.loads(answering.mem("usage", "--json"))
    told = json.dumps(usage)
    assert '"doctor"' in told
    answering.mem("config", "set", "budget.tokens_per_day", "1")
    model.requests.clear()

    answering.say(SAID)

    assert [request.stage for request in model.requests if request.stage] == []
