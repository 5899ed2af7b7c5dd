"""What has changed is shown as it is now; what contradicts itself is shown with its dates."""

from __future__ import annotations

import json
from typing import Any

import pytest

ASK = "What is the queue prefetch of the importer?"


def shown(bridge: Any) -> str:
    bridge.call("compact/after")  # whatever was shown before may be shown again
    turn = bridge.call("turn/start", {"turnId": "t", "prompt": ASK, "entries": []})
    return "\n".join(block["text"] for block in turn["blocks"])


def by_tool(bridge: Any, query: str = ASK) -> list[dict[str, Any]]:
    called = {"name": "hindsight_recall", "arguments": {"query": query, "limit": 10}}
    hits: list[dict[str, Any]] = bridge.call("tool/call", called)["details"]["hits"]
    return hits


@pytest.mark.spec("br/BR-16")
def test_a_superseded_value_never_returns(place: Any) -> None:
    bridge = place.bridge()
    for value in (20, 50, 80):
        content = f"The queue prefetch of the importer is {value}."
        called = {"name": "hindsight_retain", "arguments": {"content": content}}
        assert bridge.call("tool/call", called)["details"]["outcome"] == "stored"

    said = shown(bridge) + json.dumps(by_tool(bridge))
    said += json.dumps(by_tool(bridge, "prefetch 20")) + json.dumps(by_tool(bridge, "prefetch 50"))
    said += place.mem("recall", ASK).stdout + place.mem("recall", "--turn", ASK).stdout

    assert "is 80" in said
    assert "is 20" not in said
    assert "is 50" not in said
    states = place.data("facts", "list", "--state", "superseded")["facts"]
    assert len(states) == 2, "they are kept, and can be restored"


def test_a_contradiction_that_nobody_resolved_is_shown_with_dates(place: Any) -> None:
    facts = [
        {"text": "Ann wants the queue prefetch kept small.", "timestamp": "2025-01-15T10:00:00Z"},
        {
            "text": "Bob asked for a large queue prefetch in load tests.",
            "timestamp": "2025-06-01T08:00:00Z",
        },
    ]
    place.mem("bank", "import", place.file("facts.jsonl", *facts))

    text = shown(place.bridge())

    assert "[2025-01-15] Ann wants" in text
    assert "[2025-06-01] Bob asked" in text
