"""Several banks of one session: what a turn reads, where a session is written, what is told."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

import pytest

from hindsight_core.banks.sqlite import SqliteBank
from hindsight_core.identity import fact_id
from hindsight_core.memory import Document, Fact

GATEWAY = "The API gateway listens on port 8443 behind nginx."
TEAM = "The API gateway of every team is registered in Backstage."
ASK = "which port does the API gateway listen on?"
RULE = "Remember that the staging cluster is called heron."
PLAIN = {"MEM_RECALL__MODE": "plain", "MEM_TASKS__DETECT": "false"}
TEAM_BANK = {"id": "team", "role": "team"}


def config(host: Any, **sections: dict[str, Any]) -> None:
    host.memory.mkdir(parents=True, exist_ok=True)
    (host.memory / "config.json").write_text(json.dumps(sections))


async def learn(host: Any, bank: str, text: str, *, tags: tuple[str, ...] = ()) -> None:
    opened = SqliteBank(bank, host.memory / "banks" / f"{bank}.db")
    fact = Fact(id=fact_id(text), text=text, tags=tags)
    await opened.retain(Document(id=fact.id, text="", facts=(fact,)))
    await opened.close()


async def held(host: Any, bank: str) -> list[str]:
    opened = SqliteBank(bank, host.memory / "banks" / f"{bank}.db")
    page = await opened.list_facts(limit=100)
    await opened.close()
    return [fact.text for fact in page.facts]


def spans(bridge: Any, phase: str) -> list[dict[str, Any]]:
    told = [params for method, params in bridge.notes if method == "telemetry"]
    assert all(span["name"] == "hindsight:retrieval" for span in told)
    return [s["attributes"] for s in told if s["attributes"]["phase"] == phase]


def deciding(answers: dict[str, bool]) -> dict[str, Any]:
    """A host whose model decides, and finds nothing to memorize."""
    asked: list[str] = []

    def complete(params: dict[str, Any]) -> dict[str, Any]:
        asked.append(params["stage"])
        given: object = {"facts": []}
        if params["stage"] == "decision/route":
            given = {"answers": answers}
        return {"text": json.dumps(given), "model": "x/y"}

    return {
        "host/complete": complete,
        "host/models": lambda params: {"models": [{"id": "x/y"}], "current": "x/y"},
        "asked": asked,
    }


@pytest.mark.spec("s1/S-REC-4")
async def test_every_readable_bank_is_searched_and_each_fact_names_its_own(host: Any) -> None:
    await host.learn(GATEWAY)
    await learn(host, "team", TEAM)
    await learn(host, "closed", "The API gateway port of the closed bank is 1.")
    closed = [
        {"id": "closed", "access": "write", "role": "x"},
        {"id": "old", "enabled": False},
    ]
    config(host, bank={"entries": [TEAM_BANK, *closed]})
    bridge = host.start(**PLAIN)
    host.open(bridge)
    block = host.turn(bridge, f"{ASK} where is it registered?")["blocks"][0]["text"]
    assert re.search(rf"^- \[[^\]]*demo\] {re.escape(GATEWAY)}$", block, re.M)
    assert re.search(rf"^- \[[^\]]*team\] {re.escape(TEAM)}$", block, re.M)
    assert "closed bank" not in block
    assert {s["bankId"]: s["status"] for s in spans(bridge, "retrieval")} == {
        "demo": "success",
        "team": "success",
    }


async def test_the_personal_bank_is_read_only_where_that_is_wanted(host: Any) -> None:
    await host.learn(GATEWAY)
    await learn(host, "me", "The port that the API gateway listens on is the front door.")
    config(host, bank={"user_id": "me"})
    bridge = host.start(**PLAIN)
    host.open(bridge)
    assert "front door" not in str(host.turn(bridge, ASK))
    bridge = host.start(**PLAIN, MEM_RECALL__USER_BANK="true")
    host.open(bridge)
    assert "front door" in str(host.turn(bridge, ASK))


async def test_the_same_fact_of_two_banks_is_shown_once(host: Any) -> None:
    await host.learn(GATEWAY)
    await learn(host, "team", GATEWAY)
    config(host, bank={"entries": [TEAM_BANK]})
    bridge = host.start(**PLAIN)
    host.open(bridge)
    [block] = host.turn(bridge, ASK)["blocks"]
    assert block["text"].count("8443") == 1
    assert [memory["id"].split(":")[0] for memory in block["memories"]] == ["demo"]


@pytest.mark.spec("s1/S-REC-4", "s1/S-TEL-4")
async def test_a_bank_that_fails_hides_nothing_of_the_others(host: Any) -> None:
    await host.learn(GATEWAY)
    (host.memory / "banks" / "team.db").mkdir(parents=True)
    config(host, bank={"entries": [TEAM_BANK]})
    bridge = host.start(**PLAIN)
    host.open(bridge)
    turn = host.turn(bridge, ASK)
    assert turn["outcome"] == "injected"
    assert "8443" in turn["blocks"][0]["text"]
    status = {s["bankId"]: s["status"] for s in spans(bridge, "retrieval")}
    assert status == {"demo": "success", "team": "error"}


@pytest.mark.spec("s1/S-DEC-1")
async def test_without_a_gate_no_question_is_asked(host: Any, say: Any) -> None:
    await host.learn(GATEWAY)
    config(host, bank={"entries": [TEAM_BANK]})
    answers = deciding({})
    asked = answers.pop("asked")
    bridge = host.start(answers=answers, **PLAIN)
    host.open(bridge, capabilities={"complete": True})
    assert host.turn(bridge, ASK)["outcome"] == "injected"
    bridge.call("turn/end", {"turnId": "t1", "entries": say(RULE, "Noted.")})
    bridge.call("session/end", {"reason": "quit"})
    assert "decision/route" not in asked
    assert spans(bridge, "decision") == []


@pytest.mark.spec("s1/S-DEC-4", "s1/S-REC-1")
async def test_the_bank_gate_chooses_what_is_read(host: Any) -> None:
    await host.learn(GATEWAY)
    await learn(host, "team", TEAM)
    config(host, bank={"entries": [TEAM_BANK]}, decision={"bank_gate": True})
    answers = deciding({"inject": True, "read:demo": False, "read:team": True})
    answers.pop("asked")
    bridge = host.start(answers=answers, **PLAIN)
    host.open(bridge, capabilities={"complete": True})
    [block] = host.turn(bridge, f"{ASK} where is it registered?")["blocks"]
    assert "Backstage" in block["text"]
    assert "8443" not in block["text"]
    [decided] = spans(bridge, "decision")
    assert decided["bankIds"] == ["team"]
    assert [s["bankId"] for s in spans(bridge, "retrieval")] == ["team"]


@pytest.mark.spec("s1/S-DEC-4", "s1/S-REC-1")
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"inject": False, "read:demo": True}, "decision-no-inject"),
        ({"inject": True, "read:demo": False}, "decision-no-banks"),
    ],
)
async def test_a_decision_against_it_skips_the_turn_without_a_search(
    host: Any, answer: dict[str, bool], reason: str
) -> None:
    await host.learn(GATEWAY)
    config(host, decision={"bank_gate": True})
    answers = deciding(answer)
    answers.pop("asked")
    bridge = host.start(answers=answers, **PLAIN)
    host.open(bridge, capabilities={"complete": True})
    turn = host.turn(bridge, ASK)
    assert (turn["outcome"], turn["reason"], turn["blocks"]) == ("skipped", reason, [])
    assert spans(bridge, "retrieval") == []
    assert spans(bridge, "injection")[0]["reason"] == reason


@pytest.mark.spec("s1/S-DEC-5", "s1/S-RET-3")
async def test_a_session_is_written_to_the_banks_that_were_chosen(host: Any, say: Any) -> None:
    entries = [
        {"id": "yes", "role": "team", "retain_mode": "decision"},
        {"id": "no", "role": "team", "retain_mode": "decision"},
        {"id": "asked", "role": "life"},
    ]
    config(host, bank={"entries": entries}, models={"provider": "host"})
    answers = deciding({"write:yes": True, "write:no": False})
    asked = answers.pop("asked")
    bridge = host.start(answers=answers, **PLAIN, MEM_MEMORIZE__MODE="transcript")
    host.open(bridge, capabilities={"complete": True})
    bridge.call("turn/end", {"turnId": "t1", "entries": say(RULE, "Noted.")})
    assert bridge.call("session/end", {"reason": "quit"})["pending"] == 0
    assert asked.count("decision/route") == 1
    assert (host.memory / "banks" / "yes.db").exists()
    assert not (host.memory / "banks" / "asked.db").exists()
    assert not (host.memory / "banks" / "no.db").exists()
    [decided] = spans(bridge, "decision")
    assert (decided["kind"], decided["bankIds"]) == ("retain", ["demo", "yes"])


@pytest.mark.spec("s1/S-DEC-8", "s1/S-RET-3")
async def test_what_goes_nowhere_is_passed_over_and_told(host: Any, say: Any) -> None:
    own = {"id": "demo", "retain_mode": "decision"}
    config(host, bank={"entries": [own]}, models={"provider": "host"})
    answers = deciding({"write:demo": False})
    asked = answers.pop("asked")
    bridge = host.start(answers=answers, **PLAIN)
    host.open(bridge, capabilities={"complete": True})
    bridge.call("turn/end", {"turnId": "t1", "entries": say(RULE, "Noted.")})
    ended = bridge.call("session/end", {"reason": "quit"})
    assert ended == {"flushed": True, "pending": 0}
    assert await held(host, "demo") == []
    assert any("is not kept" in text for text in bridge.notices())
    [skipped] = spans(bridge, "retain")
    assert (skipped["status"], skipped["decisionReason"]) == ("skipped", "text")

    again = host.start(answers=answers, **PLAIN)
    host.open(again, capabilities={"complete": True}, reason="resume", entries=say(RULE, "Noted."))
    again.call("session/end", {"reason": "quit"})
    assert asked.count("decision/route") == 1
    assert await held(host, "demo") == []


@pytest.mark.spec("s1/S-TAG-2", "s1/S-ID-6")
async def test_a_shared_bank_shows_what_is_this_projects(host: Any) -> None:
    await learn(host, "demo", GATEWAY, tags=("project:shop",))
    await learn(host, "demo", "The API gateway of the garden listens on port 1.", tags=())
    other = "The API gateway of the depot listens on port 2."
    await learn(host, "demo", other, tags=("project:depot",))
    config(host, scope={"mode": "domain-tagged", "project_id": "shop"})
    bridge = host.start(**PLAIN)
    host.open(bridge)
    [block] = host.turn(bridge, ASK)["blocks"]
    assert "8443" in block["text"]
    assert "garden" not in block["text"] and "depot" not in block["text"]
    [retrieval] = spans(bridge, "retrieval")
    [group] = retrieval["tagGroups"]
    assert group["match"] == "any_strict" and "project:shop" in group["tags"]


@pytest.mark.spec("s1/S-TEL-1", "s1/S-TEL-4", "s1/S-REC-6")
async def test_spans_have_ids_counts_and_hashes_and_no_text(host: Any) -> None:
    await host.learn(GATEWAY, "The office coffee machine is descaled on Fridays.")
    bridge = host.start(**PLAIN, MEM_RECALL__CACHE_TTL_MS="60000", MEM_RECALL__COMPLETE="true")
    host.open(bridge, capabilities={"blocks": "turn"})
    first = host.turn(bridge, ASK)
    again = host.turn(bridge, ASK)
    assert first["blocks"] == again["blocks"]
    [retrieval] = spans(bridge, "retrieval")
    assert retrieval["rawIds"] and retrieval["injectedIds"] == [fact_id(GATEWAY)]
    assert retrieval["keptCount"] <= retrieval["rawCount"]
    one, two = spans(bridge, "injection")
    text = first["blocks"][0]["text"]
    assert one["renderedHash"] == two["renderedHash"] == hashlib.sha256(text.encode()).hexdigest()
    assert (one["cache"], two["cache"]) == ("miss", "hit")
    assert two["cacheOriginId"] == one["contextId"]
    assert two["retrievalIds"] == one["retrievalIds"] == [retrieval["retrievalId"]]
    told = json.dumps([p for method, p in bridge.notes if method == "telemetry"])
    assert "8443" not in told and "coffee" not in told


@pytest.mark.spec("s1/S-TEL-1")
async def test_writes_and_what_the_agent_asks_are_spans_too(host: Any, say: Any) -> None:
    await host.learn(GATEWAY)
    bridge = host.start(**PLAIN, MEM_MEMORIZE__MODE="transcript", MEM_MEMORIZE__EVERY_TURNS="1")
    host.open(bridge)

    def tool(name: str, **arguments: object) -> None:
        bridge.call("tool/call", {"name": f"hindsight_{name}", "arguments": arguments})

    secret = "ghp_" + "a1B2" * 9
    tool("recall", query=f"API gateway port {secret}")
    tool("recall", query="zebra")
    tool("recall", query=5)
    tool("retain", content="The broker of the shop is RabbitMQ.")
    bridge.call("turn/end", {"turnId": "t1", "entries": say(RULE, "Noted.")})
    bridge.call("session/end", {"reason": "quit"})

    found = spans(bridge, "retrieval")
    assert [(s["mode"], s["status"]) for s in found] == [
        ("explicit", "success"),
        ("explicit", "empty"),
        ("explicit", "error"),
    ]
    assert found[0]["rawIds"] == [fact_id(GATEWAY)]
    assert found[0]["bankId"] == "demo"
    asked, automatic = spans(bridge, "retain")
    assert (asked["mode"], asked["status"]) == ("explicit", "success")
    assert (automatic["mode"], automatic["status"]) == ("automatic", "success")
    assert automatic["documentId"] and automatic["bankId"] == "demo"
    told = json.dumps([p for method, p in bridge.notes if method == "telemetry"])
    assert not any(text in told for text in ("8443", "RabbitMQ", "heron", secret))


@pytest.mark.spec("s1/S-TEL-4")
async def test_a_search_that_finds_nothing_is_empty(host: Any) -> None:
    bridge = host.start(**PLAIN)
    host.open(bridge)
    host.turn(bridge, ASK)
    [retrieval] = spans(bridge, "retrieval")
    assert (retrieval["status"], retrieval["rawIds"]) == ("empty", [])
    assert spans(bridge, "injection")[0]["injected"] is False
