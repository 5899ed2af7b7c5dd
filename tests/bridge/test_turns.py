"""Turns over a real bridge process."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from hindsight_core.testing.bridge import BridgeError

GATEWAY = "The API gateway listens on port 8443 behind nginx."
COFFEE = "The office coffee machine is descaled on Fridays."
ASK = "Which port does the API gateway listen on?"
MODELS = {"host/models": lambda _: {"models": [], "current": None}}


@pytest.mark.spec("pi/R-01", "br/BR-50")
async def test_a_relevant_fact_comes_once_in_one_wrapped_block(host: Any) -> None:
    await host.learn(GATEWAY, COFFEE)
    bridge = host.start()
    host.open(bridge)

    first = host.turn(bridge, ASK)
    second = host.turn(bridge, "And the API gateway port behind nginx?")

    (block,) = first["blocks"]
    lines = block["text"].splitlines()
    assert lines[0] == '<hindsight-memory kind="recall">'
    assert lines[-1] == "</hindsight-memory>"
    assert block["text"].count(GATEWAY) == 1
    assert COFFEE not in block["text"]
    assert [m["id"].split(":")[0] for m in block["memories"]] == ["demo"]
    assert second["outcome"] == "empty"
    assert second["blocks"] == []


@pytest.mark.spec("br/BR-65")
async def test_after_a_compaction_it_may_be_shown_again(host: Any) -> None:
    await host.learn(GATEWAY)
    bridge = host.start()
    host.open(bridge)
    assert host.turn(bridge, ASK)["blocks"]

    bridge.call("compact/after")

    assert GATEWAY in host.turn(bridge, ASK)["blocks"][0]["text"]


@pytest.mark.parametrize(("mode", "again"), [("persist", 0), ("replay", 1), ("turn", 1)])
async def test_what_a_resumed_session_still_shows(
    host: Any, say: Any, mode: str, again: int
) -> None:
    await host.learn(GATEWAY)
    path = say("Hello.", "Hello.")
    for reason, expected in (("startup", 1), ("resume", again)):
        bridge = host.start()
        host.open(bridge, capabilities={"blocks": mode}, reason=reason, entries=path)

        result = host.turn(bridge, ASK, entries=path)

        assert len(result["blocks"]) == expected
        assert bridge.close() == 0


@pytest.mark.parametrize("mode", ["persist", "replay", "turn"])
async def test_a_host_that_keeps_blocks_for_one_turn_gets_them_whole(host: Any, mode: str) -> None:
    await host.learn(GATEWAY)
    bridge = host.start()
    host.open(bridge, capabilities={"blocks": mode})
    host.turn(bridge, ASK)

    assert bool(host.turn(bridge, ASK)["blocks"]) is (mode == "turn")


@pytest.mark.spec("pi/R-02", "br/BR-34")
async def test_a_model_that_hangs_costs_the_bound_and_no_more(host: Any) -> None:
    never = threading.Event()
    await host.learn(GATEWAY)
    bridge = host.start(
        answers={**MODELS, "host/complete": lambda _: never.wait(30)},
        MEM_RECALL__TIMEOUT_MS="300",
    )
    opened = host.open(bridge, capabilities={"complete": True})

    result = host.turn(bridge, ASK)

    assert opened["limits"]["turnStartMs"] == 300
    # In time it answers without the model, else it says that it failed; it never waits for more.
    assert result["outcome"] in ("degraded", "failed")
    assert bridge.wait(lambda: bool(bridge.cancelled))
    assert bridge.notices()
    never.set()


async def test_a_cancelled_turn_leaves_no_trace(host: Any, judge: Any) -> None:
    entered, never = threading.Event(), threading.Event()

    def hang(_: object) -> Any:
        entered.set()
        never.wait(30)

    await host.learn(GATEWAY)
    bridge = host.start(answers={**MODELS, "host/complete": hang})
    host.open(bridge, capabilities={"complete": True})
    asked = bridge.start("turn/start", {"turnId": "t", "prompt": ASK, "entries": []})
    assert entered.wait(20)

    bridge.cancel(asked)
    with pytest.raises(BridgeError) as cancelled:
        bridge.result(asked)
    never.set()
    bridge.answers["host/complete"] = judge

    assert cancelled.value.code == -32800
    assert bridge.wait(lambda: bool(bridge.cancelled))
    assert host.turn(bridge, ASK)["outcome"] == "injected"
    assert bridge.notices() == []


@pytest.mark.spec("pi/R-02", "br/BR-01", "br/BR-35")
async def test_trouble_is_told_once_and_once_when_it_is_over(host: Any, judge: Any) -> None:
    def broken(_: object) -> Any:
        raise ValueError("the model is out")

    await host.learn(GATEWAY)
    # A question a turn: a third failure would open the model's breaker.
    bridge = host.start(answers={**MODELS, "host/complete": broken}, MEM_TASKS__DETECT="false")
    host.open(bridge, capabilities={"complete": True, "blocks": "turn"})
    outcomes = [host.turn(bridge, ASK)["outcome"] for _ in range(2)]
    told = bridge.notices()
    bridge.answers["host/complete"] = judge
    after = host.turn(bridge, ASK)["outcome"]

    assert outcomes == ["degraded", "degraded"]
    assert len(told) == 1
    assert "the model is out" in told[0]
    assert after == "injected"
    assert bridge.notices()[1:] == ["The model for recall answers again."]


async def test_stages_are_marked_and_secrets_stay_here(host: Any, judge: Any) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    await host.learn(GATEWAY)
    bridge = host.start(answers={**MODELS, "host/complete": judge})
    host.open(bridge, capabilities={"complete": True})

    result = host.turn(
        bridge,
        f"My token is {secret}. {ASK}",
        entries=[{"id": "a", "role": "user", "parts": [{"type": "text", "text": f"use {secret}"}]}],
    )

    calls = [params for method, params in bridge.asked if method == "host/complete"]
    assert result["outcome"] == "injected"
    assert [call["stage"] for call in calls] == [
        "recall/queries",
        "recall/judge",
        "tasks/briefing",
    ]
    assert all(call["system"].endswith(f"(hindsight stage: {call['stage']})") for call in calls)
    assert secret not in json.dumps(bridge.asked)
    usage = bridge.call("status/get")["usage"]
    assert usage["recall/judge"]["calls"] == 1


@pytest.mark.parametrize("prompt", ["", "  \n ", "?!", "…"])
async def test_a_prompt_without_a_word_is_skipped(host: Any, judge: Any, prompt: str) -> None:
    bridge = host.start(answers={**MODELS, "host/complete": judge})
    host.open(bridge, capabilities={"complete": True})

    result = host.turn(bridge, prompt)

    assert result["outcome"] == "skipped"
    assert result["reason"]
    assert [method for method, _ in bridge.asked if method == "host/complete"] == []


async def test_an_unknown_since_is_asked_for_or_answered_with_resync(host: Any) -> None:
    await host.learn(GATEWAY)
    path = [{"id": "a", "role": "user", "parts": [{"type": "text", "text": "hello"}]}]
    plain = host.start()
    host.open(plain)
    able = host.start(answers={"host/entries": lambda _: {"entries": path}})
    host.open(able, session="s2", capabilities={"entries": True})

    refused = host.turn(plain, ASK, since="nowhere")
    whole = host.turn(plain, ASK, entries=path)
    followed = host.turn(plain, "And its port?", entries=[], since="a")
    asked = host.turn(able, ASK, since="nowhere")

    assert (refused["outcome"], refused["reason"]) == ("skipped", "resync")
    assert whole["blocks"]
    assert followed["outcome"] == "empty"
    assert asked["blocks"]
    assert ("host/entries", {}) in able.asked


@pytest.mark.spec("br/BR-25")
async def test_a_child_gets_a_small_recall_and_writes_nothing(host: Any, say: Any) -> None:
    facts = [f"The gateway of region number {n} listens on port 80{n}." for n in range(10, 20)]
    await host.learn(*facts)
    child = host.start()
    host.open(child, session="c1", parentId="s1")

    result = host.turn(child, "Which gateway listens on which port in which region?")
    child.call("turn/end", {"turnId": "t1", "entries": say("Remember that x is y.", "Done.")})
    ended = child.call("session/end", {"reason": "quit"})

    assert 1 <= len(result["blocks"][0]["memories"]) <= 4
    assert ended == {"flushed": True, "pending": 0}
    assert sorted(await host.facts()) == sorted(facts)
