"""What pi's system prompt becomes, and when a turn of pi is over."""

from __future__ import annotations

from typing import Any

import pytest
from hindsight_host_pi.adapter import PiAdapter

from hindsight_core.testing.hosts import FakeEngine, block

SESSION = {"id": "s-1", "file": "/s.jsonl", "trusted": True, "ephemeral": False}


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def pi(engine: FakeEngine) -> PiAdapter:
    return PiAdapter(engine)


def params(engine: FakeEngine, method: str) -> list[dict[str, Any]]:
    return [given for name, given in engine.calls if name == method]


@pytest.mark.spec("pi/UB-05")
async def test_the_session_tells_its_prompt_and_where_its_user_writes(
    engine: FakeEngine, pi: PiAdapter, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path))
    payload = {"reason": "startup", "cwd": "/p", "session": SESSION, "entries": []}
    await pi.event("session_start", {**payload, "systemPrompt": "You are pi."})
    await pi.event("session_start", payload)

    told, plain = params(engine, "session/start")
    assert told["system"] == "You are pi."
    assert told["instructions"] == [str(tmp_path / "AGENTS.md")]
    assert "system" not in plain


@pytest.mark.spec("pi/UB-09")
@pytest.mark.parametrize(
    ("given", "placed", "actions"),
    [
        ("with a marker", "with a block", [{"type": "system", "text": "with a block"}]),
        ("with a marker", "", [{"type": "system", "text": ""}]),
        ("without", None, []),
        (None, "never asked", []),
    ],
)
async def test_only_a_system_prompt_is_returned(
    engine: FakeEngine, pi: PiAdapter, given: str | None, placed: str | None, actions: list[Any]
) -> None:
    engine.system = placed
    result = await pi.event(
        "before_agent_start", {"prompt": "Hello", "systemPrompt": given, "entries": []}
    )

    assert list(result) == actions
    assert len(params(engine, "system/prompt")) == (given is not None)
    await pi.event("agent_end", {"aborted": True, "entries": []})


@pytest.mark.spec("pi/D-10")
async def test_one_answer_with_its_tools_is_not_the_end_of_a_turn(
    engine: FakeEngine, pi: PiAdapter
) -> None:
    await pi.event("before_agent_start", {"prompt": "Hello", "entries": []})
    for name in ("turn_start", "turn_end", "turn_start", "turn_end"):
        assert list(await pi.event(name, {"entries": []})) == []
    assert params(engine, "turn/end") == []

    await pi.event("agent_end", {"aborted": False, "entries": []})
    assert len(params(engine, "turn/end")) == 1


async def test_a_briefing_is_shown_with_its_words(engine: FakeEngine, pi: PiAdapter) -> None:
    engine.blocks = [{**block("- a fact"), "display": "briefed from 2\nPayments pass the ledger."}]
    await pi.event("before_agent_start", {"prompt": "Hello", "entries": []})

    actions = await pi.event("context", {"messages": [{"role": "user", "timestamp": 1}]})

    (shown,) = [action for action in actions if action["type"] == "show"]
    assert shown["lines"] == ["briefed from 2", "Payments pass the ledger.", "- a fact"]
