"""Real agents with memory: what one session says the next one knows, and nothing costs a prompt."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.timeout(240)
GATEWAY = "The API gateway listens on port 8443 behind nginx."
ASK = "Which port does the API gateway listen on?"
BLOCK = "hindsight-memory kind="


@pytest.fixture(autouse=True)
def _no_daemon_stays(agent):
    """Hooks are answered by a daemon here, and each test's daemon ends with it."""
    del agent.env["HINDSIGHT_MEM_DAEMON"]
    agent.env["HINDSIGHT_MEM_DAEMON_IDLE_S"] = "60"
    yield
    if (pid := daemon(agent)) is not None:
        os.kill(pid, signal.SIGTERM)


def daemon(agent) -> int | None:
    """The process that answers this home's hooks."""
    try:
        pid = int((agent.memory / "daemon.lock").read_text())
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except (OSError, ValueError):
        return None
    return pid if b"hindsight_core.daemon" in command else None


def until(found, seconds: float = 20):
    """What is found, as soon as it is."""
    end = time.monotonic() + seconds
    while not (value := found()) and time.monotonic() < end:
        time.sleep(0.1)
    return value


def last(agent) -> str:
    """The newest request of the agent to its model, as one text."""
    bodies = [r.body for r in agent.server.requests if r.body.get("tools")]
    return json.dumps(bodies[-1], ensure_ascii=False)


@pytest.mark.spec("br/BR-50", "br/BR-11")
def test_the_second_session_knows_what_the_first_was_told(agent):
    agent.mem("install", agent.name)

    agent.say(f"Remember that {GATEWAY}")
    assert until(lambda: any("8443" in fact for fact in agent.facts()))
    agent.say(ASK)

    assert sum("8443" in fact for fact in agent.facts()) == 1
    asked = last(agent)
    assert asked.count("8443") == 1
    assert asked.count(BLOCK) == 1
    assert daemon(agent) is not None
    logs = "".join(p.read_text() for p in (agent.memory / "logs").glob("daemon.log*"))
    assert "Traceback" not in logs


@pytest.mark.spec("br/BR-37", "br/BR-11")
def test_a_daemon_that_was_killed_costs_neither_a_prompt_nor_a_fact(agent):
    agent.mem("install", agent.name)
    agent.say(f"Remember that {GATEWAY}")
    before = daemon(agent)
    assert before is not None
    os.kill(before, signal.SIGKILL)

    agent.say(ASK)

    assert until(lambda: daemon(agent) not in (None, before))
    assert until(lambda: any("8443" in fact for fact in agent.facts()))
    assert sum("8443" in fact for fact in agent.facts()) == 1


@pytest.mark.spec("br/BR-01", "br/BR-35")
def test_a_bank_that_is_down_costs_no_prompt(agent, model):
    agent.mem("install", agent.name)
    agent.mem("config", "set", "bank.backend", "hindsight")
    agent.mem("config", "set", "hindsight.base_url", "http://127.0.0.1:9")
    model.reply = lambda asked: "It goes on."

    assert "It goes on." in agent.say(ASK)
    assert "It goes on." in agent.say(ASK)
    assert "recall" not in last(agent).partition("hindsight-memory kind=")[2][:10]


@pytest.mark.spec("br/BR-01")
def test_hooks_that_get_garbage_or_a_broken_home_cost_no_prompt(agent, model):
    agent.mem("install", agent.name)
    model.reply = lambda asked: "It goes on."
    (agent.memory / "config.toml").write_text("bank = = broken")
    assert "It goes on." in agent.say(ASK)
    for file in ("queue.db", "state.db"):
        (agent.memory / file).write_bytes(b"this is no database" * 99)
    assert "It goes on." in agent.say(ASK)


@pytest.mark.spec("br/BR-02")
def test_what_was_injected_is_not_stored_again(agent):
    agent.mem("install", agent.name)
    agent.say(f"Remember that {GATEWAY}")
    assert until(lambda: any("8443" in fact for fact in agent.facts()))
    for _ in range(3):
        agent.say(ASK)
    pid = daemon(agent)
    assert pid is not None
    os.kill(pid, signal.SIGTERM)
    assert until(lambda: daemon(agent) is None)
    assert len(agent.facts()) == 1
