"""Slash commands in the real pi: a study task, switching off, saving, marking, searching."""

from __future__ import annotations

import re
from typing import Any

import pytest

from hindsight_core.testing.agent_server import texts

GATEWAY = "The API gateway listens on port 8443 behind nginx."
BLOCK = "<hindsight-memory"


def slash(rpc: Any, line: str, *said: str) -> None:
    """Run a slash command that asks no model, until a notice has all of what it is to say."""
    before = len(rpc.notices())
    rpc.send(type="prompt", message=line)
    notice(rpc, *said, after=before)


def notice(rpc: Any, *said: str, after: int = 0) -> str:
    """The first notice with all of these, when it comes."""

    def fits(text: str) -> bool:
        return all(part in text for part in said)

    found = [text for text in rpc.notices()[after:] if fits(text)]
    if found:
        return str(found[0])
    event = rpc.wait(lambda e: e.get("method") == "notify" and fits(e["message"]))
    return str(event["message"])


def remembered(request: Any) -> dict[str, Any]:
    """What was to be remembered, outside of what is marked as saved."""
    whole = "\n".join(texts(request)).split("[transcript]")[-1]
    fresh = re.sub(r"(?s)\[ALREADY SAVED TO MEMORY\].*?\[END ALREADY SAVED\]", "", whole)
    found = re.findall(r"Remember that (.+?\.)", fresh)
    return {"facts": [{"text": text, "category": "facts"} for text in dict.fromkeys(found)]}


def studying(request: Any) -> object:
    """An agent that looks, keeps one fact, and then talks about it."""
    messages = request.body["messages"]
    task = max((n for n, m in enumerate(messages) if "Study the following" in str(m)), default=None)
    if task is None or any("Kept." in str(m) for m in messages[task:]):
        return "Understood."
    if any(m.get("role") == "tool" for m in messages[task:]):
        return "Kept. Remember that the gateway was studied."
    return {"call": {"name": "hindsight_retain", "arguments": {"content": GATEWAY}}}


@pytest.mark.spec("pi/M-23", "pi/D-10", "pi/U-02")
def test_a_study_task_is_stored_once(pi: Any) -> None:
    pi.mem("install", "pi")
    pi.env["HINDSIGHT_MEM_MODELS__PROVIDER"] = "host"
    pi.server.replies.set("", studying)
    pi.server.replies.set("memorize/extract", remembered)
    rpc = pi.rpc()
    rpc.prompt("Remember that the staging cluster is called heron.")
    rpc.send(type="prompt", message="/mem-retain the API gateway")
    rpc.wait(lambda event: event.get("type") == "agent_settled")
    assert pi.facts() == [GATEWAY]

    slash(rpc, "/mem-save", "in the background")
    saved = notice(rpc, "saved 1 note")
    assert rpc.close() == 0

    assert saved.splitlines() == [
        "saved 1 note · 1 line",
        "  · the staging cluster is called heron.",
    ]
    assert sorted(pi.facts()) == sorted([GATEWAY, "the staging cluster is called heron."])
    task = next(text for text in texts(pi.server.conversation()[-1]) if "Study the" in text)
    assert "the API gateway" in task
    (extract,) = [r for r in pi.server.requests if r.stage == "memorize/extract"]
    transcript = "\n".join(texts(extract)).split("[transcript]")[-1]
    inside = transcript.split("[ALREADY SAVED TO MEMORY]")[1].split("[END ALREADY SAVED]")[0]
    assert "Study the following" in inside
    assert "the gateway was studied" in inside
    assert "heron" not in inside


@pytest.mark.spec("pi/U-03", "pi/M-22", "pi/U-02")
def test_auto_off_and_save_all(pi: Any) -> None:
    pi.mem("install", "pi")
    pi.learn(GATEWAY)
    rpc = pi.rpc()
    slash(rpc, "/mem-auto off", "recall off · automatic memorizing off")
    rpc.prompt("Remember that the staging cluster is called heron. And the API gateway port?")
    assert BLOCK not in "\n".join(texts(pi.server.conversation()[-1]))
    assert pi.facts() == [GATEWAY]
    assert rpc.command(type="compact") is not None
    assert pi.facts() == [GATEWAY]

    slash(rpc, "/mem-save all", "from its start")
    notice(rpc, "saved 1 note")
    assert sum("heron" in fact for fact in pi.facts()) == 1
    slash(rpc, "/mem-recall staging cluster heron", "1 fact")
    assert rpc.close() == 0
    assert sum("heron" in fact for fact in pi.facts()) == 1

    again = pi.rpc()
    slash(again, "/mem-auto", "recall on · automatic memorizing on")
    again.close()


@pytest.mark.spec("pi/M-24")
def test_mark_passes_over_what_was_said(pi: Any) -> None:
    pi.mem("install", "pi")
    rpc = pi.rpc()
    rpc.prompt("Remember that the staging cluster is called heron.")
    slash(rpc, "/mem-mark", "from here on")
    rpc.prompt("Remember that the broker of the shop is RabbitMQ.")
    assert rpc.close() == 0
    assert [("heron" in fact, "RabbitMQ" in fact) for fact in pi.facts()] == [(False, True)]


@pytest.mark.spec("pi/U-02")
def test_a_retain_without_a_task_is_a_usage_error(pi: Any) -> None:
    pi.mem("install", "pi")
    rpc = pi.rpc()
    slash(rpc, "/mem-retain", "usage: /mem-retain")
    slash(rpc, "/mem-recall", "usage: /mem-recall")
    assert rpc.close() == 0
    assert pi.server.conversation() == []
