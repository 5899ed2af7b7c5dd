"""``turn/progress`` over a real bridge: steers given, notified, kept, bounded."""

from __future__ import annotations

import json
import re
import threading
from typing import Any

import pytest

GATEWAY = "The API gateway listens on port 8443 behind nginx."
COFFEE = "The office coffee machine is descaled on Fridays."
SETTINGS = {
    "MEM_PROFILE": "active-memory",
    "MEM_MODELS__PROVIDER": "host",
    "MEM_STEER__COOLDOWN_MS": "0",
    "MEM_STEER__EVERY_TURNS": "1",
    "MEM_CAPTURE__ENABLED": "false",
    "MEM_INVESTIGATION__ENABLED": "false",
}


def model(text: str, *, until: threading.Event | None = None) -> Any:
    """Answers ``host/complete``: the judge sends the memory with this text.

    The first look finds nothing to search for; with ``until`` later ones wait for it.
    """
    asked: list[str] = []

    def answer(params: dict[str, Any]) -> dict[str, Any]:
        asked.append(params["stage"])
        reply: dict[str, Any] = {"query": "" if len(asked) == 1 else "gateway port"}
        if params["stage"] == "steer/judge":
            if until is not None:
                until.wait(20)
            text_asked = params["messages"][0]["content"]
            found = re.findall(rf"^id: (\S+).*\n{re.escape(text)}$", text_asked, re.M)
            reply = {"relevant_ids": found, "reason": "it is needed now"}
        return {"text": json.dumps(reply), "model": "x/y"}

    return answer


def steps(say: Any, number: int) -> list[dict[str, Any]]:
    return say("set it up", *["I go on"] * number)


@pytest.mark.spec("am/A-SCHED-5")
async def test_it_answers_with_the_steer_where_the_host_takes_no_notification(
    host: Any, say: Any
) -> None:
    await host.learn(GATEWAY, COFFEE)
    bridge = host.start(answers={"host/complete": model(GATEWAY)}, **SETTINGS)
    opened = host.open(bridge, capabilities={"complete": True})
    assert opened["progress"] is True
    assert host.turn(bridge, "set it up")["blocks"] == []

    given = bridge.call("turn/progress", {"turnId": "t1", "entries": steps(say, 2)})

    (block,) = given["blocks"]
    assert block["kind"] == "steer"
    assert GATEWAY in block["text"]
    assert COFFEE not in block["text"]
    assert block["memories"][0]["id"].startswith("demo:")
    assert block["id"].startswith("steer-")
    assert bridge.call("turn/progress", {"entries": steps(say, 2)})["blocks"] == []


@pytest.mark.spec("am/A-SCHED-5")
async def test_a_host_that_takes_notifications_is_not_kept_waiting(host: Any, say: Any) -> None:
    await host.learn(GATEWAY)
    answered = threading.Event()
    answers = {"host/complete": model(GATEWAY, until=answered)}
    bridge = host.start(answers=answers, **SETTINGS)
    host.open(bridge, capabilities={"complete": True, "steer": True})
    host.turn(bridge, "set it up")
    given = bridge.call("turn/progress", {"turnId": "t1", "entries": steps(say, 2)})
    assert given == {"blocks": []}
    answered.set()
    assert bridge.wait(lambda: any(name == "steer" for name, _ in bridge.notes))
    (sent,) = [params for name, params in bridge.notes if name == "steer"]
    assert GATEWAY in sent["blocks"][0]["text"]


async def test_what_is_not_wanted_now_is_kept_for_the_next_call(host: Any, say: Any) -> None:
    await host.learn(GATEWAY)
    bridge = host.start(answers={"host/complete": model(GATEWAY)}, **SETTINGS)
    host.open(bridge, capabilities={"complete": True})
    host.turn(bridge, "set it up")
    told = {"turnId": "t1", "entries": steps(say, 2), "give": False}
    assert bridge.call("turn/progress", told)["blocks"] == []
    (block,) = bridge.call("turn/progress", {"turnId": "t1"})["blocks"]
    assert GATEWAY in block["text"]


@pytest.mark.spec("am/A-FAIL")
async def test_a_slow_model_costs_no_more_than_the_bound(host: Any, say: Any) -> None:
    await host.learn(GATEWAY)
    never = threading.Event()
    answers = {"host/complete": model(GATEWAY, until=never)}
    bridge = host.start(answers=answers, MEM_RECALL__TIMEOUT_MS="300", **SETTINGS)
    host.open(bridge, capabilities={"complete": True})
    host.turn(bridge, "set it up")
    progress = {"turnId": "t1", "entries": steps(say, 2)}
    # The model hangs for longer than that.
    bridge.call("turn/progress", progress, timeout_s=10)
    never.set()


async def test_without_steers_it_only_follows(host: Any, say: Any) -> None:
    await host.learn(GATEWAY)
    bridge = host.start(MEM_RECALL__MODE="off")
    assert "progress" not in host.open(bridge)
    assert bridge.call("turn/progress", {"entries": steps(say, 4)}) == {"blocks": []}


@pytest.mark.spec("am/A-SCHED-7")
async def test_another_session_sees_nothing_of_the_one_before(host: Any, say: Any) -> None:
    await host.learn(GATEWAY)
    answered = threading.Event()
    answers = {"host/complete": model(GATEWAY, until=answered)}
    bridge = host.start(answers=answers, **SETTINGS)
    host.open(bridge, capabilities={"complete": True, "steer": True}, session="one")
    host.turn(bridge, "set it up")
    bridge.call("turn/progress", {"turnId": "t1", "entries": steps(say, 2)})
    host.open(bridge, capabilities={"complete": True, "steer": True}, session="two")
    answered.set()
    status = bridge.call("command/run", {"name": "memory-why", "arguments": ""})
    assert "nothing was sent" in status["text"]
    assert not [name for name, _ in bridge.notes if name == "steer"]
