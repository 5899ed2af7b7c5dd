"""Steers in the real omp: what reaches the running loop, and what is left behind."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from hindsight_core.testing.agent_server import texts

pytestmark = pytest.mark.timeout(200)
PNPM = "This project uses pnpm and never npm."
PORT = "The API gateway listens on port 8443 behind nginx."
STEER = '<hindsight-memory kind="steer">'


def choose(text: str) -> Any:
    """A judge that sends the memories with this text."""

    def judge(request: Any) -> object:
        lines = "\n".join(texts(request)).splitlines()
        pairs = pairwise(lines)
        ids = [line.split()[1] for line, fact in pairs if line.startswith("id: ") and text in fact]
        return {"relevant_ids": ids, "reason": "it decides what is next"}

    return judge


def working(request: Any) -> object:
    """An agent that runs three commands one after the other, and is done."""
    results = [m for m in request.body["messages"] if m.get("role") == "tool"]
    if len(results) >= 3:
        return "All done."
    return {"call": {"name": "bash", "arguments": {"command": "sleep 0.4", "i": "wait"}}}


@pytest.mark.spec("am/A-SCHED-5", "am/A-SCHED-1")
def test_a_steer_reaches_the_running_loop(omp: Any) -> None:
    omp.mem("install", "omp")
    omp.learn(PNPM, PORT)
    omp.env.update(
        HINDSIGHT_MEM_PROFILE="active-memory",
        HINDSIGHT_MEM_MODELS__PROVIDER="host",
        HINDSIGHT_MEM_STEER__COOLDOWN_MS="0",
        HINDSIGHT_MEM_STEER__EVERY_TURNS="1",
        HINDSIGHT_MEM_CAPTURE__ENABLED="false",
        HINDSIGHT_MEM_INVESTIGATION__ENABLED="false",
    )
    omp.server.replies.set("steer/query", [{"query": ""}, {"query": "gateway port"}])
    omp.server.replies.set("steer/judge", choose(PORT))
    omp.server.replies.set("", working)

    rpc = omp.rpc().ready()
    rpc.prompt("Set the gateway up.")
    assert rpc.close() == 0

    requests = omp.server.conversation()
    steers = ["\n".join(texts(request)).count(STEER) for request in requests]
    assert (steers[0], steers[-1]) == (0, 1)
    last = requests[-1].body["messages"]
    place = next(n for n, text in enumerate(texts(requests[-1])) if STEER in text)
    assert last[place - 1]["role"] == "tool"
    block = texts(requests[-1])[place]
    assert PORT in block
    assert PNPM not in block
    tools = {tool["function"]["name"] for tool in requests[0].body["tools"]}
    assert {"memory_search", "memory_feedback"} <= tools
    kept = "".join(
        file.read_text() for file in omp.session_files() if "active-memory" not in file.name
    )
    assert PORT not in kept
    assert "hindsight-memory" not in kept
