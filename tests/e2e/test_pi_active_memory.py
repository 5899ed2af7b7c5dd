"""Active memory in the real pi: what is captured, what expires, what comes back."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import Any

import pytest

from hindsight_core.testing.agent_server import texts

pytestmark = pytest.mark.timeout(180)
SAID = "my favourite colour is orange"
MEMORY = "The user's favourite colour is orange."
TABS = "The user prefers tabs in Python files."
FOUND = "The cache key leaves out the tenant."


def proposed(text: str, evidence: str, **more: object) -> dict[str, object]:
    kind, scope = str(more.pop("kind", "user_profile")), "project"
    return {
        "text": text,
        "kind": kind,
        "scope": scope,
        "confidence": 0.9,
        "evidence": evidence,
        **more,
    }


def extraction(request: Any) -> object:
    message = "\n".join(texts(request)).split("[message]")[1].split("[end of message]")[0]
    found = []
    if SAID in message:
        found.append(proposed(MEMORY, SAID))
    if "I prefer tabs" in message:
        found.append(proposed(TABS, "I prefer tabs in Python files"))
    if "rename" in message:
        # A model that takes a request for a memory: the validator has the last word.
        found.append(proposed("The module is called shop.", "rename the module to shop"))
    return {"memories": found}


def validation(request: Any) -> object:
    asked = "\n".join(texts(request))
    return {"accept": "The module is called" not in asked, "reason": "requests are no memories"}


@pytest.fixture
def active(pi: Any) -> Any:
    pi.mem("install", "pi")
    pi.env.update(
        HINDSIGHT_MEM_PROFILE="active-memory",
        HINDSIGHT_MEM_MODELS__PROVIDER="host",
        HINDSIGHT_MEM_STEER__ENABLED="false",
    )
    pi.server.replies.set("capture/extraction", extraction)
    pi.server.replies.set("capture/validation", validation)
    pi.server.replies.set("capture/merge", {"action": "add"})
    pi.server.replies.set("capture/investigation", {"memories": []})
    pi.server.replies.set("capture/investigation_validation", {"accept": True, "reason": "shown"})
    return pi


def shown(pi: Any, text: str) -> dict[str, Any]:
    """Everything about a fact."""
    listed = json.loads(pi.mem("facts", "list", "--state", "all", "--json"))["facts"]
    (fact_id,) = [fact["id"] for fact in listed if fact["text"] == text]
    (whole,) = json.loads(pi.mem("facts", "show", fact_id, "--json"))["facts"]
    return dict(whole)


def days_pass(pi: Any, days: int) -> None:
    """Every clock of the side table has stood for so long."""
    with closing(sqlite3.connect(pi.memory / "state.db")) as connection, connection:
        for bank, key, body in connection.execute(
            "SELECT bank, fact_id, body FROM lives"
        ).fetchall():
            record = json.loads(body)
            day = connection.execute("SELECT date(?, ?)", (record["decayed_on"], f"-{days} days"))
            record["decayed_on"] = day.fetchone()[0]
            connection.execute(
                "UPDATE lives SET body = ? WHERE bank = ? AND fact_id = ?",
                (json.dumps(record), bank, key),
            )


@pytest.mark.spec("am/A-CAP", "am/A-REC-2", "am/A-SCHED-6")
def test_a_preference_is_captured_with_its_evidence_and_a_request_is_not(active: Any) -> None:
    rpc = active.rpc()
    rpc.prompt(f"By the way, {SAID}.")
    rpc.prompt("Please rename the module to shop.")
    assert rpc.close() == 0

    assert active.facts() == [MEMORY]
    fact = shown(active, MEMORY)
    assert (fact["confidence"], fact["authority"], fact["scope"]) == (0.5, "user", "project")
    assert (fact["evidence"], fact["said_in"]) == (SAID, f"By the way, {SAID}.")
    stages = [request.stage for request in active.server.requests]
    assert stages.count("capture/extraction") == 2
    assert stages.count("capture/validation") == 2
    for request in active.server.requests:
        if request.stage.startswith("capture/"):
            assert f"(hindsight stage: {request.stage})" in "\n".join(texts(request))
    assert SAID not in "\n".join(texts(active.server.conversation()[0])).replace(
        f"By the way, {SAID}.", ""
    )


@pytest.mark.spec("am/A-LIFE-1", "am/A-LIFE-6")
def test_five_unused_days_expire_it_a_pinned_one_stays_and_one_command_restores(
    active: Any,
) -> None:
    rpc = active.rpc()
    rpc.prompt(f"By the way, {SAID}.")
    rpc.prompt("And I prefer tabs in Python files.")
    rpc.close()
    assert sorted(active.facts()) == sorted([MEMORY, TABS])
    active.mem("facts", "pin", shown(active, TABS)["id"])

    days_pass(active, 5)
    rpc = active.rpc()  # a session begins with a sweep
    rpc.prompt("Hello again.")
    rpc.close()
    assert active.facts() == [TABS]
    gone = shown(active, MEMORY)
    assert (gone["state"], gone["expired_by"]) == ("invalidated", "low_confidence")
    assert shown(active, TABS)["floor"] == 0.5

    active.mem("facts", "restore", gone["id"])
    assert sorted(active.facts()) == sorted([MEMORY, TABS])
    rpc = active.rpc()
    rpc.prompt("And again.")
    rpc.close()
    assert sorted(active.facts()) == sorted([MEMORY, TABS])


@pytest.mark.spec("am/A-ASST-1", "am/A-ASST-2", "am/A-ASST-3")
def test_a_long_investigation_leaves_what_it_found(active: Any) -> None:
    active.env["HINDSIGHT_MEM_INVESTIGATION__MINIMUM_ELAPSED_MS"] = "900"

    def agent(request: Any) -> object:
        results = [m for m in request.body["messages"] if m.get("role") == "tool"]
        if results:
            return "The key has no tenant."
        command = "sleep 1; echo key = path"
        return {"call": {"name": "bash", "arguments": {"command": command}}}

    found = proposed(FOUND, "key = path", kind="fact", why_stored="it took an hour")
    active.server.replies.set("", agent)
    active.server.replies.set("capture/investigation", {"memories": [found]})
    rpc = active.rpc()
    rpc.prompt("Why are pages mixed up?")
    assert rpc.close() == 0

    assert active.facts() == [FOUND]
    fact = shown(active, FOUND)
    assert (fact["authority"], fact["cause"]) == ("assistant", "Why are pages mixed up?")
    assert (fact["why_stored"], fact["priority"]) == ("it took an hour", 0.55)
    assert fact["elapsed_ms"] >= 900
    asked = next(r for r in active.server.requests if r.stage == "capture/investigation")
    work = "\n".join(texts(asked)).split("[work]")[1].split("[end of work]")[0]
    assert "tool bash: key = path" in work
    assert "Why are pages mixed up?" not in work


def test_a_killed_session_loses_no_preference(active: Any) -> None:
    active.server.replies.set("capture/validation", {"status": 500, "body": "down"})
    rpc = active.rpc()
    rpc.prompt(f"By the way, {SAID}.")
    rpc.kill()
    assert active.facts() == []
    active.server.replies.set("capture/validation", validation)
    rpc = active.rpc()
    rpc.prompt("Hello again.")
    rpc.close()
    assert active.facts() == [MEMORY]
