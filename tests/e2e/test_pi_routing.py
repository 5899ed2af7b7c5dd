"""The real pi with the decision layer, a task list of an extension, and a listener on its bus."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hindsight_core.testing.agent_server import texts

GATEWAY = "The API gateway listens on port 8443 behind nginx."
BLOCK = "<hindsight-memory"
TASKS = [
    {"id": 1, "subject": "dig", "status": "completed"},
    {"id": 2, "subject": "plant the beans", "status": "pending"},
]
EXTENSION = """
import { appendFileSync } from "node:fs";
export default function (pi) {
  pi.on("session_start", () => pi.appendEntry("rpiv-todo-state", { tasks: %s, nextId: 3 }));
  pi.events.on("hindsight:retrieval", (span) => {
    appendFileSync(%s, JSON.stringify(span) + "\\n");
    throw new Error("a listener that throws");
  });
}
"""


@pytest.fixture
def listening(pi: Any) -> Any:
    """pi with memory installed, and an extension that keeps tasks and listens."""
    pi.mem("install", "pi")
    pi.learn(GATEWAY)
    spans = pi.home / "spans.jsonl"
    extension = pi.agent / "listener.js"
    extension.write_text(EXTENSION % (json.dumps(TASKS), json.dumps(str(spans))))
    settings = json.loads(pi.settings.read_text())
    settings["extensions"] = [*settings["extensions"], str(extension)]
    pi.settings.write_text(json.dumps(settings))
    pi.spans = lambda: [json.loads(line) for line in spans.read_text().splitlines()]
    return pi


@pytest.mark.spec("s1/S-DEC-1", "s1/S-DEC-11", "s1/S-TEL-1", "s1/S-TEL-3")
def test_a_decision_sees_the_tasks_and_is_told_on_the_bus(listening: Any) -> None:
    pi = listening
    pi.mem("config", "set", "decision.inject_gate", "true")
    pi.server.replies.set("decision/route", {"answers": {"inject": False}})
    rpc = pi.rpc()
    rpc.prompt("Which port does the API gateway listen on?")
    pi.server.replies.set("decision/route", {"answers": {"inject": True}})
    rpc.prompt("And the port of the API gateway behind nginx?")
    assert rpc.close() == 0

    asked = [r for r in pi.server.requests if r.stage == "decision/route"]
    assert len(asked) == 2
    prompt = "\n".join(texts(asked[0]))
    assert "plant the beans" in prompt and "dig" not in prompt
    first, second = pi.server.conversation()[-2:]
    assert BLOCK not in "\n".join(texts(first))
    assert GATEWAY in "\n".join(texts(second))
    decisions = [span for span in pi.spans() if span["phase"] == "decision"]
    assert [span["reason"] for span in decisions if span["kind"] == "recall"] == [
        "decision-no-inject",
        "text",
    ]
    assert "8443" not in json.dumps(pi.spans())


@pytest.mark.spec("s1/S-REC-8", "s1/S-TEL-3")
def test_with_the_profile_each_block_is_complete_and_stands_before_the_message(
    listening: Any,
) -> None:
    pi = listening
    pi.mem("config", "set", "profile", "s1enhanced")
    pi.mem("config", "set", "scope.mode", "isolated-bank")
    rpc = pi.rpc()
    ask = "Which port does the API gateway listen on?"
    rpc.prompt(ask)
    rpc.prompt("And the port of the API gateway behind nginx?")
    assert rpc.close() == 0

    for request in pi.server.conversation()[-2:]:
        whole = texts(request)
        at = [number for number, text in enumerate(whole) if BLOCK in text]
        assert len(at) == 1
        assert GATEWAY in whole[at[0]]
        assert "port" in whole[at[0] + 1] and at[0] + 2 == len(whole)
