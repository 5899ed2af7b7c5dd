"""Steers in the real pi: what reaches the running loop, and what is left behind."""

from __future__ import annotations

import json
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
    kept = session_text(steered).replace(_log(steered), "")
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


def token_and_id(request: Any) -> tuple[str, str]:
    """What a steer says about rating: its token and the id of its first memory."""
    (block,) = [text for text in texts(request) if STEER in text]
    token = block.partition("Feedback token: ")[2].split(".")[0]
    return token, block.partition("Memory ids: ")[2].split(".")[0].split(",")[0]


def rating(outcome: str) -> Any:
    """An agent that rates the first memory of the steer that it sees, once."""

    def agent(request: Any) -> object:
        if any(m.get("role") == "tool" for m in request.body["messages"]):
            return "Rated."
        token, memory = token_and_id(request)
        given = {"steerToken": token, "memoryId": memory, "outcome": outcome}
        arguments = {**given, "reason": "it changed the command that I ran"}
        return {"call": {"name": "memory_feedback", "arguments": arguments}}

    return agent


@pytest.mark.spec("am/A-FB-4", "am/A-TOOL")
def test_the_agent_rates_a_steer_and_the_ranking_moves(steered: Any) -> None:
    steered.server.replies.set("steer/judge", choose(PNPM))
    steered.server.replies.set("", rating("useful"))
    rpc = steered.rpc()
    rpc.prompt("Install the packages.")
    assert rpc.close() == 0

    results = [
        str(m["content"])
        for m in steered.server.conversation()[-1].body["messages"]
        if m.get("role") == "tool"
    ]
    assert "its confidence is now 0.60" in results[0]
    offered = steered.server.conversation()[0].body
    tools = {tool["function"]["name"] for tool in offered["tools"]}
    assert {"memory_search", "memory_store_result", "memory_correct", "memory_feedback"} <= tools
    assert "Rate a memory that was sent to you" in "\n".join(
        texts(steered.server.conversation()[0])
    )

    steered.server.replies.set("steer/judge", {"relevant_ids": [], "reason": "none"})
    steered.server.replies.set("", "Done.")
    rpc = steered.rpc()
    rpc.prompt("Something else about packages.")
    rpc.close()
    asked = "\n".join(texts([r for r in steered.server.requests if r.stage == "steer/judge"][-1]))
    ranked = [line for line in asked.splitlines() if line.startswith("id: ")]
    assert "confidence 0.60" in next(
        line for line, text in zip(asked.splitlines(), asked.splitlines()[1:], strict=False)
        if line in ranked and PNPM in text
    )  # fmt: skip


@pytest.mark.spec("am/A-SCHED-8", "am/A-FB-1")
def test_a_token_is_good_in_a_resumed_session(steered: Any) -> None:
    steered.server.replies.set("steer/judge", choose(PNPM))
    rpc = steered.rpc()
    rpc.prompt("Install the packages.")
    rpc.kill()
    token, memory = token_and_id(steered.server.conversation()[-1])
    steered.server.replies.set("steer/judge", {"relevant_ids": [], "reason": "none"})

    def agent(request: Any) -> object:
        if any(m.get("role") == "tool" for m in request.body["messages"]):
            return "Rated."
        arguments = {"steerToken": token, "memoryId": memory, "outcome": "unhelpful"}
        call = {"name": "memory_feedback", "arguments": {**arguments, "reason": "wrong project"}}
        return {"call": call}

    steered.server.replies.set("", agent)
    rpc = steered.rpc("--continue")
    rpc.prompt("Rate what came before.")
    rpc.send(type="prompt", message="/memory-why")
    rpc.wait(lambda e: e.get("method") == "notify" and token in e["message"])
    assert rpc.close() == 0

    results = [
        str(m["content"])
        for m in steered.server.conversation()[-1].body["messages"]
        if m.get("role") == "tool"
    ]
    assert "its confidence is now 0." in results[0]
    assert len(steered.session_files()) == 2  # the session and its activity log
    assert PNPM not in session_text(steered).replace(_log(steered), "")


def _log(pi: Any) -> str:
    (log,) = [file for file in pi.session_files() if file.name.endswith(".active-memory.jsonl")]
    assert log.stat().st_mode & 0o777 == 0o600
    return log.read_text()


@pytest.mark.spec("am/A-LOG")
def test_the_log_of_the_session_stands_beside_its_file(steered: Any) -> None:
    steered.server.replies.set("steer/judge", choose(PNPM))
    rpc = steered.rpc()
    rpc.prompt("Install the packages.")
    rpc.close()
    rows = [json.loads(line) for line in _log(steered).splitlines()]
    kinds = [row["type"] for row in rows]
    for kind in ("session.started", "recall.started", "recall.judged", "steer.queued"):
        assert kind in kinds
    assert kinds[-1] == "session.shutdown"


@pytest.mark.spec("am/A-TOOL")
def test_commands(steered: Any) -> None:
    rpc = steered.rpc()
    for command in ("/memory-status", "/memory-list", "/memory-pause", "/memory-stats"):
        rpc.send(type="prompt", message=command)
        rpc.wait(lambda e: e.get("method") == "notify")
    rpc.close()
    told = "\n".join(rpc.notices())
    assert "memory:ready" in told
    assert PNPM in told
    assert "memory is paused" in told
    assert "recallAttempts: 0" in told
    assert steered.server.conversation() == []


@pytest.mark.spec("am/A-FAIL")
def test_an_adapter_in_javascript_is_answered_with_what_to_do(steered: Any) -> None:
    other = steered.home / "other.ts"
    other.write_text(
        "export default function (pi: any) {\n"
        "  pi.events.on('pi-active-memory:register-adapters', (adapters: any) => {\n"
        "    adapters.registerEmbedding('my-embedding', () => ({}));\n"
        "  });\n"
        "}\n"
    )
    rpc = steered.rpc("-e", str(other))
    rpc.prompt("Hello there.")
    rpc.close()
    (told,) = [said for said in rpc.notices() if "my-embedding" in said]
    assert "hindsight-mem plugins new embedder" in told


@pytest.mark.spec("am/A-TOOL", "am/A-SCHED-5")
@pytest.mark.parametrize(("outcome", "mark"), [("useful", "🟢"), ("unhelpful", "🔴")])
def test_a_person_sees_the_steer_and_how_it_was_rated(
    steered: Any, pi_screen: Any, outcome: str, mark: str
) -> None:
    steered.server.replies.set("steer/judge", choose(PNPM))
    steered.server.replies.set("", rating(outcome))
    terminal = pi_screen()
    terminal.until("2f")
    terminal.type("Install the packages.")
    terminal.press("Enter")
    lines = terminal.until(f"{mark} memory: {PNPM}")
    assert len([line for line in lines if f"memory: {PNPM}" in line]) == 1
    assert PNPM not in session_text(steered).replace(_log(steered), "")


@pytest.mark.spec("am/A-TOOL")
def test_the_finder_opens_from_its_command(steered: Any, pi_screen: Any) -> None:
    terminal = pi_screen()
    terminal.until("2f")
    terminal.type("/memory-forget")
    terminal.press("Escape", "Enter")
    terminal.until("[Memories]")
    terminal.type("gatway")
    terminal.until("1 of 2")
    terminal.press("Enter")
    terminal.until("delete “The API gateway")
    terminal.press("y")
    terminal.until("deleted, restorable here")
    assert steered.facts() == [PNPM]


@pytest.mark.spec("am/A-SCHED-1")
def test_a_long_thought_is_a_reason_to_look(steered: Any) -> None:
    steered.env["HINDSIGHT_MEM_STEER__EVERY_TURNS"] = "50"
    thought = "I wonder which gateway this is about. " * 40

    def agent(request: Any) -> object:
        results = [m for m in request.body["messages"] if m.get("role") == "tool"]
        if len(results) >= 2:
            return "All done."
        call = {"name": "bash", "arguments": {"command": "sleep 0.4"}}
        return {"call": call, "thinking": "" if results else thought}

    steered.server.replies.set("", agent)
    steered.server.replies.set("steer/query", [{"query": ""}, {"query": "gateway port"}])
    steered.server.replies.set("steer/judge", choose(PORT))
    rpc = steered.rpc()
    rpc.prompt("Set the gateway up.")
    rpc.close()

    asked = [r for r in steered.server.requests if r.stage == "steer/query"]
    assert len(asked) == 2
    assert "I wonder which gateway this is about." in "\n".join(texts(asked[1]))
    assert STEER in "\n".join(texts(steered.server.conversation()[-1]))
