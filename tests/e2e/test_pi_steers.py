"""Steers in the real pi: what reaches the running loop, and what is left behind."""

from __future__ import annotations

from typing import Any

import pytest

from hindsight_core.testing.agent_server import texts

PNPM = "This project uses pnpm and never npm."
PORT = "The API gateway listens on port 8443 behind nginx."
STEER = '<hindsight-memory kind="steer">'


def working(*commands: str) -> Any:
    """An agent that runs these commands one after the other, and is done."""

    def agent(request: Any) -> object:
        results = [m for m in request.body["messages"] if m.get("role") == "tool"]
        if len(results) >= len(commands):
            return "All done."
        return {"call": {"name": "bash", "arguments": {"command": commands[len(results)]}}}

    return agent


def choose(text: str) -> Any:
    """A judge that sends the memories with this text."""

    def judge(request: Any) -> object:
        asked = "\n".join(texts(request))
        ids = [
            line.split()[1]
            for line, following in zip(asked.splitlines(), asked.splitlines()[1:], strict=False)
            if line.startswith("id: ") and text in following
        ]
        return {"relevant_ids": ids, "reason": "it decides what is next"}

    return judge


@pytest.fixture
def steered(pi: Any) -> Any:
    pi.mem("install", "pi")
    pi.learn(PNPM, PORT)
    pi.env.update(
        HINDSIGHT_MEM_PROFILE="active-memory",
        HINDSIGHT_MEM_MODELS__PROVIDER="host",
        HINDSIGHT_MEM_STEER__COOLDOWN_MS="0",
        HINDSIGHT_MEM_STEER__EVERY_TURNS="1",
        HINDSIGHT_MEM_CAPTURE__ENABLED="false",
        HINDSIGHT_MEM_INVESTIGATION__ENABLED="false",
    )
    pi.server.replies.set("steer/query", {"query": "packages pnpm gateway port"})
    pi.server.replies.set("steer/judge", {"relevant_ids": [], "reason": "nothing"})
    return pi


def session_text(pi: Any) -> str:
    return "".join(file.read_text() for file in pi.session_files())


@pytest.mark.spec("am/A-SCHED-5", "am/A-SCHED-1")
def test_a_steer_reaches_the_running_loop_and_stays_where_it_came(steered: Any) -> None:
    steered.server.replies.set("steer/judge", choose(PORT))
    steered.server.replies.set("", working("sleep 0.4", "sleep 0.4", "true"))
    steered.server.replies.set("steer/query", [{"query": ""}, {"query": "gateway port"}])
    rpc = steered.rpc()
    rpc.prompt("Set the gateway up.")
    assert rpc.close() == 0

    requests = steered.server.conversation()
    with_steer = ["\n".join(texts(r)).count(STEER) for r in requests]
    assert with_steer[0] == 0
    assert with_steer[-1] == 1
    last = requests[-1].body["messages"]
    place = next(n for n, text in enumerate(texts(requests[-1])) if STEER in text)
    assert last[place - 1]["role"] == "tool"
    assert last[place]["role"] == "user"
    block = next(text for text in texts(requests[-1]) if STEER in text)
    assert PORT in block
    assert PNPM not in block
    assert "memory_feedback" in block
    kept = session_text(steered)
    assert "8443" not in kept
    assert "hindsight-memory" not in kept
    assert "hindsight-shown" in kept


@pytest.mark.spec("am/A-SCHED-1")
def test_before_the_agent_runs_the_prompt_is_looked_at(steered: Any) -> None:
    steered.server.replies.set("steer/judge", choose(PNPM))
    rpc = steered.rpc()
    rpc.prompt("Install the packages.")
    rpc.close()
    (request,) = steered.server.conversation()
    (block,) = [text for text in texts(request) if STEER in text]
    assert PNPM in block
    asked = next(r for r in steered.server.requests if r.stage == "steer/query")
    assert "user: Install the packages." in "\n".join(texts(asked))
