"""Which of pi's sessions keep nothing by themselves, and what a session hands to the shim."""

from __future__ import annotations

from typing import Any

import pytest
from hindsight_host_pi.adapter import PiAdapter

from hindsight_core.testing.host_engine import FakeEngine, block


async def started(engine: FakeEngine, **session: Any) -> list[dict[str, Any]]:
    given = {"id": "s", "file": "/s.jsonl", "trusted": True, **session}
    payload = {"reason": "startup", "cwd": "/project", "session": given, "entries": []}
    return list(await PiAdapter(engine).event("session_start", payload))


@pytest.mark.spec("pi/S-02", "pi/TC-18")
@pytest.mark.parametrize(
    ("name", "only_tools"),
    [
        ("flow:step:attempt-1", True),
        ("flow:step:inner:attempt-12", True),
        ("flow:attempt-1", False),
        ("flow:step:attempt-", False),
        ("flow:step:attempt-1b", False),
        ("my session", False),
        (None, False),
    ],
)
async def test_an_agent_of_a_workflow_has_tools_only(name: str | None, only_tools: bool) -> None:
    engine = FakeEngine()
    actions = await started(engine, name=name)

    session = engine.calls[0][1]["session"]
    assert session["ephemeral"] is only_tools
    assert [a["type"] for a in actions if a["type"] == "tools"] == ["tools"]


@pytest.mark.spec("pi/C-13")
async def test_a_dormant_session_clears_the_widget() -> None:
    engine = FakeEngine()
    engine.state = "dormant"
    actions = await started(engine)

    assert {"type": "status", "line": ""} in actions
    assert not any(action["type"] == "notify" for action in actions)


@pytest.mark.spec("pi/S-04", "pi/UB-09")
async def test_who_the_user_is_stands_before_what_is_recalled_in_one_handler() -> None:
    engine = FakeEngine()
    engine.system = "You are pi. <hindsight-memory ...>"
    engine.blocks = [block("the facts, and the reminder below them")]
    adapter = PiAdapter(engine)
    given = {"id": "s", "file": "/s.jsonl", "trusted": True}
    payload = {"reason": "startup", "cwd": "/project", "session": given, "entries": []}
    await adapter.event("session_start", payload)
    asked = {"prompt": "Go.", "systemPrompt": "You are pi.", "entries": []}
    before = await adapter.event("before_agent_start", asked)
    later = await adapter.event("context", {"messages": [{"role": "user", "timestamp": 1}]})

    assert before == [{"type": "system", "text": engine.system}]
    inserted = [action["text"] for action in later if action["type"] == "insert"]
    assert inserted == ["the facts, and the reminder below them"]
