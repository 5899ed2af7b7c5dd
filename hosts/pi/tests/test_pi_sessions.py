"""Which of pi's sessions keep nothing by themselves, and what a session hands to the shim."""

from __future__ import annotations

from typing import Any

import pytest
from hindsight_host_pi.adapter import PiAdapter

from hindsight_core.testing.host_engine import FakeEngine


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
