"""Two sessions of an agent that lends its model: the second knows what the first was told."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest


def model(params: dict[str, Any]) -> dict[str, Any]:
    """Answers every stage as a careful model would, from the text that it is given."""
    text = params["messages"][-1]["content"]
    rules = [
        {"text": f, "category": "decisions"} for f in re.findall(r"decided that (.+?\.)", text)
    ]
    numbered = [int(n) for n in re.findall(r"^(\d+)\. .*heron", text, re.MULTILINE)]
    replies: dict[str, object] = {
        "recall/queries": {"queries": ["staging cluster name"]},
        "recall/judge": {"score": 90 if numbered else 0, "keep": numbered},
        "memorize/extract": {"facts": rules},
        "memorize/verify": {"keep": [1, 2, 3]},
        "memorize/topics": {"queries": ["staging cluster"]},
        "memorize/dedup": {"known": [], "updates": []},
        "memorize/summary": "They decided some names.",
    }
    reply = replies[params["stage"]]
    return {"text": reply if isinstance(reply, str) else json.dumps(reply), "model": "own/model"}


@pytest.mark.spec("pi/M-01", "pi/R-01", "br/BR-40")
@pytest.mark.parametrize("compacted", [True, False])
async def test_the_second_session_knows(host: Any, say: Any, *, compacted: bool) -> None:
    answers = {"host/complete": model, "host/models": lambda _: {"models": [], "current": None}}
    lends = {"complete": True}
    first = host.start(answers=answers)
    host.open(first, capabilities=lends)
    path = say(
        "We decided that the staging cluster is called heron.",
        "Noted.",
        "We decided that invoices are archived for ten years.",
        "Noted.",
    )
    first.call("turn/end", {"turnId": "t1", "entries": path, "aborted": False})
    if compacted:
        first.call("compact/before", {"entries": path[:2], "reason": "threshold"})
        first.call("compact/after")
    ended = first.call("session/end", {"reason": "quit"})
    first.close()

    second = host.start(answers=answers)
    host.open(second, session="s2", capabilities=lends)
    turn = host.turn(second, "What is the staging cluster called?")
    again = host.turn(second, "And its name, once more?")
    second.call("session/end", {"reason": "quit"})

    assert ended == {"flushed": True, "pending": 0}
    assert len(await host.facts()) == 2
    assert turn["outcome"] == "injected"
    assert turn["blocks"][0]["text"].count("heron") == 1
    assert "invoices" not in turn["blocks"][0]["text"]
    assert again["blocks"] == []
    # At a compaction somebody is there to be told what was saved; at the end nobody is.
    saved = ["saved 1 note · 1 line\n  · the staging cluster is called heron."]
    assert first.notices() == (saved if compacted else [])
    assert second.notices() == []
    stages = {params["stage"] for _, params in first.asked + second.asked if "stage" in params}
    assert stages >= {"memorize/extract", "recall/queries", "recall/judge"}
