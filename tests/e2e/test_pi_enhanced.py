"""The real pi with profile s1enhanced: its transcript retained once, modes, privacy, the hub."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

WORDS = "avocet bittern cormorant dunlin egret fulmar gannet".split()


@pytest.fixture
def enhanced(pi: Any) -> Any:
    """pi with memory installed under the profile, its bank in the embedded engine."""
    pi.mem("install", "pi")
    pi.mem("config", "set", "profile", "s1enhanced")
    pi.env["HINDSIGHT_MEM_BANK__BACKEND"] = "sqlite"
    pi.server.replies.set("bank/facts", {"facts": []})
    return pi


def say(rpc: Any, word: str) -> None:
    rpc.prompt(f"The word of this turn is {word}.")


def texts(pi: Any) -> dict[str, str]:
    """The text of each document in the bank."""
    listed = json.loads(pi.mem("documents", "list", "--json", "--limit", "200"))["documents"]
    shown = (json.loads(pi.mem("documents", "show", d["id"], "--json")) for d in listed)
    return {document["id"]: document["text"] for document in shown}


def counts(pi: Any, *words: str) -> list[int]:
    """How often each word stands in what the user said, over all documents."""
    said = [
        message["content"]
        for text in texts(pi).values()
        for message in json.loads(text)
        if message["role"] == "user"
    ]
    whole = json.dumps(said)
    return [len(re.findall(rf"turn is {word}\.", whole)) for word in words]


def on_disk(folder: Path, needle: str) -> list[str]:
    """Files, logs and write-ahead logs included, that hold a text."""
    found = [path for path in folder.rglob("*") if path.is_file()]
    return [str(path.relative_to(folder)) for path in found if needle.encode() in path.read_bytes()]


@pytest.mark.timeout(240)
@pytest.mark.spec("s1/S-RET-1", "s1/S-RET-2", "s1/S-CUR-1", "s1/S-CUR-2")
def test_each_turn_is_retained_once_over_kill_resume_fork_and_compaction(enhanced: Any) -> None:
    pi = enhanced
    rpc = pi.rpc()
    say(rpc, WORDS[0])
    say(rpc, WORDS[1])
    rpc.kill()

    rpc = pi.rpc("--continue")
    say(rpc, WORDS[2])
    rpc.command(type="compact")
    say(rpc, WORDS[3])
    forks = rpc.command(type="get_fork_messages")["data"]["messages"]
    rpc.command(type="fork", entryId=forks[-1]["entryId"])
    say(rpc, WORDS[4])
    assert rpc.close() == 0

    rpc = pi.rpc("--continue")
    say(rpc, WORDS[5])
    assert rpc.close() == 0
    assert pi.mem("queue", "flush") is not None

    assert counts(pi, *WORDS[:6]) == [1] * 6
    receipts = json.loads(pi.mem("queue", "receipts", "--json"))["receipts"]
    assert {row["document_id"] for row in receipts} == set(texts(pi))
    queue = json.loads(pi.mem("queue", "list", "--json"))
    assert (queue["pending"], queue["dead"]) == (0, 0)


@pytest.mark.spec("s1/S-SES-2", "s1/S-RET-4")
def test_what_is_left_out_is_in_no_file(enhanced: Any) -> None:
    pi = enhanced
    rpc = pi.rpc()
    say(rpc, WORDS[0])
    rpc.command(type="prompt", message="/hindsight:next-opt-out")
    say(rpc, WORDS[1])
    rpc.prompt(f"Kept <private>The word is {WORDS[2]}</private> and the word is {WORDS[3]}.")
    rpc.command(type="prompt", message="/hindsight:mode read-only")
    say(rpc, WORDS[4])
    rpc.kill()
    last = pi.rpc("--continue")
    last.command(type="prompt", message="/hindsight:mode normal")
    say(last, WORDS[5])
    assert last.close() == 0

    held = {word: on_disk(pi.memory, word) for word in WORDS[:6]}
    assert held[WORDS[0]] and held[WORDS[3]] and held[WORDS[5]]
    assert held[WORDS[1]] == held[WORDS[2]] == held[WORDS[4]] == []
    (row,) = json.loads(pi.mem("sessions", "list", "--json"))["sessions"]
    assert row["mode"] == "normal" and row["documents"] >= 1


@pytest.mark.spec("s1/S-SES-6")
def test_the_hub_in_the_panel(enhanced: Any, pi_screen: Any) -> None:
    terminal = pi_screen()
    terminal.until("proj")
    terminal.type("The word of this turn is heron.")
    terminal.press("Enter")
    terminal.until("Understood.")
    terminal.until("1d 0f")
    terminal.type("/hindsight")
    terminal.press("Escape", "Enter")
    lines = terminal.until("[Hub]")
    assert any(re.match(r"mode +normal", line) for line in lines)
    terminal.press("Enter", "r")
    terminal.until(lambda found: any(re.search(r"\d\d:\d\d pi-", line) for line in found))
    terminal.press("m")
    terminal.until(lambda found: any(re.match(r"mode +read-only", line) for line in found))
    (row,) = json.loads(enhanced.mem("sessions", "list", "--json"))["sessions"]
    assert row["mode"] == "read-only"
    assert "heron" not in "\n".join(
        line for line in terminal.screen() if "pi-" in line or "queue" in line
    )


@pytest.mark.spec("s1/S-TOOL-2", "s1/S-TOOL-1")
def test_the_agent_has_the_tools_of_the_profile(enhanced: Any) -> None:
    pi = enhanced

    def status_once(request: Any) -> object:
        if any(message.get("role") == "tool" for message in request.body["messages"]):
            return "Understood."
        return {"call": {"name": "hindsight_status", "arguments": {}}}

    pi.server.replies.set("", status_once)
    rpc = pi.rpc()
    rpc.prompt("How is memory?")
    assert rpc.close() == 0
    offered = {tool["function"]["name"] for tool in pi.server.conversation()[-1].body["tools"]}
    names = ("recall", "retain", "reflect", "forget", "status", "scope", "config", "bank")
    assert {f"hindsight_{name}" for name in (*names, "mental_model")} <= offered
    messages = pi.server.conversation()[-1].body["messages"]
    [told] = [message["content"] for message in messages if message.get("role") == "tool"]
    assert '"profile": "s1enhanced"' in json.dumps(told).replace('\\"', '"')
