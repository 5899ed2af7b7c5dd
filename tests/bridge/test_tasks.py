"""Tasks and reminders over a real bridge process, and over several of one session."""

from __future__ import annotations

import json
from typing import Any

import pytest

GATEWAY = "The API gateway listens on port 8443 behind nginx."
REFUNDS = "Refunds of payments need a second approval."
ASK = "Which port does the API gateway listen on?"
PAY = "Now something else: how is a payment refunded?"
PROSE = "Refunds need a second approval."
ABLE = {"complete": True}


class Model:
    """The host's model: knows gateways from payments, and what it was asked."""

    def __init__(self) -> None:
        self.stages: list[str] = []

    def __call__(self, params: dict[str, Any]) -> dict[str, Any]:
        self.stages.append(params["stage"])
        text = params["messages"][-1]["content"]
        about = "payment refund approval" if "payment" in text else "API gateway port"
        changed = {"changed": True, "title": "Payment refunds", "query": about}
        replies: dict[str, object] = {
            "recall/queries": {"queries": [about]},
            "recall/judge": {"score": 90, "keep": [1]},
            "tasks/detect": changed if "payment" in text else {"changed": False},
            "tasks/briefing": PROSE if "approval" in text else "NONE",
        }
        reply = replies.get(params["stage"], {"facts": []})
        return {"text": reply if isinstance(reply, str) else json.dumps(reply), "model": "x/y"}


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def answers(model: Model) -> dict[str, Any]:
    return {"host/models": lambda _: {"models": [], "current": None}, "host/complete": model}


@pytest.mark.spec("pi/T-10", "pi/T-12", "pi/T-16", "pi/B-03", "pi/B-07")
async def test_tasks_of_one_session(host: Any, model: Model, answers: Any) -> None:
    await host.learn(GATEWAY, REFUNDS)
    bridge = host.start(answers=answers)
    host.open(bridge, capabilities=ABLE)

    first = host.turn(bridge, ASK)
    again = host.turn(bridge, ASK)
    payments = host.turn(bridge, PAY)
    bridge.call("compact/after")
    model.stages.clear()
    after = host.turn(bridge, PAY)

    assert [[b["kind"] for b in r["blocks"]] for r in (first, again, payments, after)] == [
        ["recall"],
        [],
        ["briefing"],
        ["briefing"],
    ]
    (block,) = payments["blocks"]
    lines = block["text"].splitlines()
    assert lines[0] == '<hindsight-memory kind="briefing">'
    assert lines[-1] == "</hindsight-memory>"
    assert block["text"].count(PROSE) == 1
    assert [m["id"].split(":")[0] for m in block["memories"]] == ["demo"]
    assert block["text"].count("Automatic note") == 1
    assert "tasks/detect" not in model.stages
    assert "There is a long-term memory" in after["blocks"][0]["text"]


@pytest.mark.spec("pi/T-01", "pi/B-02")
async def test_a_host_that_starts_a_process_a_turn_has_one_session(
    host: Any, model: Model, answers: Any
) -> None:
    await host.learn(GATEWAY, REFUNDS)
    path: list[dict[str, Any]] = []
    kinds = []
    for number, prompt in enumerate((ASK, "Tell me a joke.", PAY, "Another joke?")):
        bridge = host.start(answers=answers)
        host.open(bridge, capabilities=ABLE, reason="resume" if path else "startup", entries=path)
        result = host.turn(bridge, prompt, entries=path)
        kinds.append([block["kind"] for block in result["blocks"]])
        said = {"role": "user", "parts": [{"type": "text", "text": prompt}]}
        path = [*path, {"id": f"e{number}", **said}]
        bridge.call("turn/end", {"turnId": f"t{number}", "entries": path})
        assert bridge.close() == 0

    assert kinds == [["recall"], [], ["briefing"], []]
    assert model.stages.count("tasks/detect") == 3


async def test_a_new_session_with_the_same_name_begins_anew(
    host: Any, model: Model, answers: Any
) -> None:
    await host.learn(GATEWAY)
    for _ in range(2):
        bridge = host.start(answers=answers)
        host.open(bridge, capabilities=ABLE)
        assert host.turn(bridge, ASK)["blocks"]
        assert bridge.close() == 0

    assert "tasks/detect" not in model.stages


@pytest.mark.spec("pi/B-01", "pi/B-04")
async def test_silent_turns_are_reminded_of_only_where_memory_recalls(host: Any) -> None:
    bridge = host.start(MEM_REMINDER__TURNS="2")
    host.open(bridge)
    told = [host.turn(bridge, f"Tell me joke number {n}.")["blocks"] for n in range(4)]
    child = host.start()
    host.open(child, session="c1", parentId="s1")
    off = host.start(MEM_RECALL__ENABLED="false")
    host.open(off, session="s2")

    assert [[block["kind"] for block in blocks] for blocks in told] == [
        ["reminder"],
        [],
        ["reminder"],
        [],
    ]
    assert len(told[0][0]["text"].splitlines()) > len(told[2][0]["text"].splitlines())
    assert told[0][0]["memories"] == []
    assert host.turn(child, "Tell me a joke.")["blocks"] == []
    assert host.turn(off, "Tell me a joke.")["blocks"] == []
