"""At a budget's cap automatic work waits, explicit commands go on, and one notice says it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hindsight_core.testing.model_server import ModelServer

RULE = "We decided that the staging cluster is called heron."
SCRIPT = {
    "recall/queries": {"queries": ["staging cluster"]},
    "recall/judge": {"score": 90, "keep": [1]},
    "memorize/extract": {"facts": [{"text": "The staging cluster is called heron."}]},
    "memorize/verify": {"keep": [1]},
    "memorize/topics": {"queries": ["staging"]},
    "memorize/dedup": {"known": [], "updates": []},
    "bank/reflect": "It is heron.",
}


@pytest.mark.parametrize("cap", ["TOKENS_PER_DAY", "TOKENS_PER_SESSION"])
async def test_at_the_cap_automatic_work_waits_and_commands_go_on(
    host: Any, say: Any, loopback: None, cap: str
) -> None:
    await host.learn("The API gateway listens on port 8443.")
    with ModelServer(dict(SCRIPT)) as model:
        used = {"MEM_MODELS__BASE_URL": model.url, "MEM_MODELS__MODEL": "m"}
        bridge = host.start(**used, **{f"MEM_BUDGET__{cap}": "1"})
        host.open(bridge)
        outcomes = [host.turn(bridge, f"Which port has gateway {n}?")["outcome"] for n in range(4)]
        automatic = [request.stage for request in model.requests]
        bridge.call("turn/end", {"turnId": "t1", "entries": say(RULE, "Noted.")})
        bridge.call("compact/before", {"entries": say(RULE, "Noted."), "reason": "manual"})
        reflect = {"name": "hindsight_reflect", "arguments": {"query": "Which port?"}}
        answer = bridge.call("tool/call", reflect)
        told = [text for text in bridge.notices() if "budget." in text]
        ended = bridge.call("session/end", {"reason": "quit"})
        after = [request.stage for request in model.requests][len(automatic) :]

    # The call that reaches the cap is made; none after it.
    assert len(automatic) <= 1
    assert set(outcomes) <= {"degraded", "empty", "injected"}
    assert answer["isError"] is False
    assert [stage for stage in after if not stage.startswith("bank/")] == []
    assert ended["flushed"] is False, "the window waits"
    assert ended["pending"] == 1
    assert len([text for text in told if "Recall" in text]) == 1
    assert "commands go on" in json.dumps(told)

    # The next day, or without the cap, it is memorized.
    with ModelServer(dict(SCRIPT)) as model:
        later = host.start(MEM_MODELS__BASE_URL=model.url, MEM_MODELS__MODEL="m")
        host.open(later, session="s2")
        assert later.call("session/end", {"reason": "quit"})["flushed"] is True
    assert any("heron" in fact for fact in await host.facts())


async def test_a_turn_makes_so_many_calls_and_no_more(host: Any, loopback: None) -> None:
    await host.learn("The API gateway listens on port 8443.")
    with ModelServer(dict(SCRIPT)) as model:
        bridge = host.start(
            MEM_MODELS__BASE_URL=model.url, MEM_MODELS__MODEL="m", MEM_BUDGET__CALLS_PER_TURN="1"
        )
        host.open(bridge)
        for number in range(3):
            host.turn(bridge, f"Which port has gateway {number}?")
        stages = [request.stage for request in model.requests]
    assert len(stages) <= 3
