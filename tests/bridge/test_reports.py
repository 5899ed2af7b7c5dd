"""Stories from users' reports, each over real bridge processes from its first word to its last."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
from contextlib import closing
from typing import Any

import pytest

from hindsight_core.testing.model_server import ModelServer

GATEWAY = "The API gateway listens on port 8443 behind nginx."
ASK = "Which port does the API gateway listen on?"


def entry(entry_id: str, role: str, text: str) -> dict[str, Any]:
    return {"id": entry_id, "role": role, "parts": [{"type": "text", "text": text}]}


@pytest.mark.spec("br/BR-80")
async def test_a_block_holds_no_ids_and_no_scores_and_leaves_the_prompt_alone(host: Any) -> None:
    await host.learn(GATEWAY)
    bridge = host.start()
    host.open(bridge)

    result = host.turn(bridge, ASK)

    assert set(result) <= {"outcome", "reason", "blocks"}  # nothing that could replace the prompt
    (block,) = result["blocks"]
    ((fact, score),) = [(memory["id"], memory["score"]) for memory in block["memories"]]
    for shown in (block["text"], block.get("display") or ""):
        assert fact not in shown
        assert fact.removeprefix("demo:") not in shown
        assert re.findall(r"\d+\.\d+", shown) == [], "a score"
        assert "stage" not in shown
    assert isinstance(score, float)
    # Who asks for them gets them.
    called = {"name": "hindsight_recall", "arguments": {"query": ASK}}
    (hit,) = bridge.call("tool/call", called)["details"]["hits"]
    assert hit["id"] == fact
    # Nothing was told to the person that they did not ask for.
    assert bridge.notices() == []


@pytest.mark.spec("br/BR-77")
async def test_facts_are_dated_by_what_was_said_also_when_they_come_late(
    host: Any,
) -> None:
    said = "Remember that production has moved to Kubernetes."
    path = [
        {**entry("e1", "user", said), "timestamp": "2025-01-15T10:00:00Z"},
        {**entry("e2", "assistant", "Noted."), "timestamp": "2025-01-15T10:01:00Z"},
    ]
    # Another process keeps the bank's file: what is stored later was said long ago.
    await host.learn(GATEWAY)
    soon = {"MEM_QUEUE__BACKOFF_MS": "50", "MEM_QUEUE__SHUTDOWN_TIMEOUT_MS": "3000"}
    away = host.start(**soon)
    host.open(away)
    with closing(sqlite3.connect(host.memory / "banks" / "demo.db")) as keeper:
        keeper.execute("BEGIN IMMEDIATE")
        away.call("turn/end", {"turnId": "t1", "entries": path})
        assert away.call("session/end", {"reason": "quit"})["pending"] == 1
    assert away.close() == 0

    bridge = host.start(**soon)
    host.open(bridge, session="s2")
    for _ in range(400):
        if bridge.call("status/get")["pending"] == 0:
            break
        await asyncio.sleep(0.05)

    def found(**when: str) -> list[dict[str, Any]]:
        arguments = {"query": "Kubernetes production", **when}
        called = {"name": "hindsight_recall", "arguments": arguments}
        hits: list[dict[str, Any]] = bridge.call("tool/call", called)["details"]["hits"]
        return hits

    (hit,) = found(since="2025-01-01", until="2025-01-31")
    assert hit["timestamp"].startswith("2025-01-15T10:00")
    assert found(since="2025-02-01") == []


@pytest.mark.spec("br/BR-17")
async def test_many_turns_cost_what_was_said_and_not_its_square(host: Any, loopback: None) -> None:
    turns = 60
    path: list[dict[str, Any]] = []
    with ModelServer({"memorize/extract": {"facts": []}}) as server:
        bridge = host.start(
            MEM_MEMORIZE__EVERY_TURNS="1", MEM_MODELS__BASE_URL=server.url, MEM_MODELS__MODEL="m"
        )
        host.open(bridge)
        for number in range(turns):
            path.append(entry(f"u{number}", "user", f"step {number} of the migration {'x' * 80}"))
            path.append(entry(f"a{number}", "assistant", f"done {number} {'y' * 80}"))
            since = {"since": path[-3]["id"]} if number else {}
            given = path[-2:] if number else path
            bridge.call("turn/end", {"turnId": f"t{number}", "entries": given, **since})
        assert bridge.call("session/end", {"reason": "quit"})["flushed"] is True
        sent = [json.dumps(request.body) for request in server.requests]
    whole = "\n".join(sent)
    for number in (0, 7, 31, turns - 1):
        assert len(re.findall(rf"step {number} of", whole)) == 1
    words = sum(len(part["text"]) for item in path for part in item["parts"])
    prompt = len(sent[0]) - 200
    assert len(whole) <= len(sent) * prompt + 3 * words


@pytest.mark.spec("br/BR-19")
async def test_recall_runs_once_a_turn_and_shows_nothing_twice(host: Any) -> None:
    topics = ("gateway", "importer", "scheduler", "invoice", "mailer")
    await host.learn(*(f"The {topics[n % 5]} uses setting number {n}." for n in range(40)))
    bridge = host.start()
    host.open(bridge)
    path: list[dict[str, Any]] = []
    shown: list[str] = []
    for number in range(20):
        prompt = f"Continue with the {topics[number % 5]} and setting {number}"
        result = host.turn(bridge, prompt, entries=path)
        assert len(result["blocks"]) <= 1
        shown += [memory["id"] for block in result["blocks"] for memory in block["memories"]]
        path.append(entry(f"u{number}", "user", prompt))
        for step in range(4):
            path.append(entry(f"a{number}.{step}", "assistant", "calling a tool"))
            again = bridge.call("turn/progress", {"turnId": f"t{number + 1}", "entries": path})
            assert again["blocks"] == []
        bridge.call("turn/end", {"turnId": f"t{number + 1}", "entries": path})
    assert shown
    assert len(shown) == len(set(shown))


@pytest.mark.spec("br/BR-13")
async def test_two_projects_side_by_side_see_nothing_of_each_other(host: Any) -> None:
    def tell(bank: str, text: str) -> Any:
        bridge = host.start(MEM_BANK__ID=bank)
        host.open(bridge, session=bank)
        called = {"name": "hindsight_retain", "arguments": {"content": text}}
        assert bridge.call("tool/call", called)["details"]["outcome"] == "stored"
        return bridge

    shop = tell("shop", "auth.py signs a JWT for every login.")
    blog = tell("blog", "auth.py sets cookies for every login.")
    ask = "How does auth.py handle a login?"
    asked = [
        (shop, "JWT", "cookies", host.turn(shop, ask)),
        (blog, "cookies", "JWT", host.turn(blog, ask)),
    ]
    for bridge, own, foreign, turn in asked:
        said = json.dumps(turn)
        for name in ("recall", "reflect"):
            called = {"name": f"hindsight_{name}", "arguments": {"query": ask}}
            said += json.dumps(bridge.call("tool/call", called))
        said += json.dumps(bridge.call("command/run", {"name": "mem-recall", "arguments": ask}))
        assert own in said
        assert foreign not in said
