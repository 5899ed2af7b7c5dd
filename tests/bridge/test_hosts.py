"""Every host adapter over a real bridge: canonical requests, strange events."""

from __future__ import annotations

from typing import Any

import pytest

GATEWAY = "The API gateway listens on port 8443 behind nginx."


@pytest.mark.parametrize("name", ["generic", "pi"])
async def test_canonical_requests_are_accepted_under_every_host(host: Any, name: str) -> None:
    await host.learn(GATEWAY)
    bridge = host.start(host=name)
    host.open(bridge)

    assert host.turn(bridge, "Which port does the API gateway listen on?")["blocks"]


@pytest.mark.parametrize("name", ["generic", "pi"])
@pytest.mark.parametrize(
    "payload", [{}, {"messages": "x"}, {"entries": [1, None, {}]}, {"session": []}]
)
def test_strange_events_cost_nothing(host: Any, name: str, payload: dict[str, Any]) -> None:
    bridge = host.start(host=name)
    events = [
        "session_start",
        "before_agent_start",
        "context",
        "agent_end",
        "no_such",
        "turn/start",
    ]

    answers = [bridge.call("event", {"name": event, "payload": payload}) for event in events]

    assert all(isinstance(answer["actions"], list) for answer in answers)
    assert bridge.close() == 0
