"""Sessions of the real pi: tasks that begin, what memory says then, what the prompt says of one."""

from __future__ import annotations

import re
from typing import Any

import pytest

from hindsight_core.testing.agent_server import texts

GATEWAY = "The API gateway listens on port 8443 behind nginx."
REFUNDS = "Refunds of payments need a second approval."
LEDGER = "Every payment passes the ledger service first."
COFFEE = "The office coffee machine is descaled on Fridays."
PROSE = "Payments pass the ledger service first, and their refunds need a second approval."
TEA = "The user prefers short answers in English."
BLOCK = re.compile(r'<hindsight-memory kind="([a-z-]+)">')
PAYMENTS = re.compile("payment|refund|ledger", re.IGNORECASE)


def asked(request: Any) -> str:
    """The last message of a request."""
    return texts(request)[-1]


def queries(request: Any) -> object:
    """What to look for, by the request that stands in the prompt."""
    wanted = asked(request).split("[latest request]")[1].split("[end of latest request]")[0]
    found = [("gateway", "API gateway port"), ("payment", "payment refund approval")]
    return {"queries": [query for word, query in found if word in wanted]}


def keeps(request: Any) -> object:
    """The numbers of the facts about the subject of the search key."""
    text = asked(request)
    key = text.split("[search key]")[1].split("[end of search key]")[0]
    about = PAYMENTS if "payment" in key else re.compile("gateway")
    facts = re.findall(r"^(\d+)\. (.*)$", text.split("[facts]")[1], re.MULTILINE)
    keep = [int(number) for number, fact in facts if about.search(fact)]
    return {"score": 90 if keep else 0, "keep": keep}


def detects(request: Any) -> object:
    """Another task when the talk turns to payments, or back."""
    said = asked(request)
    last = said[said.rindex("USER:") :]
    title = "CURRENT TASK: Payment refunds"
    if "payment" in last and title not in said:
        return {"changed": True, "title": "Payment refunds", "query": "payment refund approval"}
    return {"changed": False}


def briefs(request: Any) -> object:
    """Prose about payments; of anything else there is nothing to tell."""
    facts = asked(request).split("[facts]")[1]
    return PROSE if PAYMENTS.search(facts) else "NONE"


@pytest.fixture
def judged(pi: Any) -> Any:
    """pi with memory, a few facts, and a small model that does its work."""
    pi.mem("install", "pi")
    pi.learn(GATEWAY, REFUNDS, LEDGER, COFFEE)
    pi.env["HINDSIGHT_MEM_MODELS__PROVIDER"] = "host"
    for stage, reply in (
        ("recall/queries", queries),
        ("recall/judge", keeps),
        ("tasks/detect", detects),
        ("tasks/briefing", briefs),
    ):
        pi.server.replies.set(stage, reply)
    return pi


def blocks(request: Any) -> list[str]:
    """Kinds of the blocks in a request, in order."""
    return BLOCK.findall("\n".join(texts(request)))


@pytest.mark.spec("pi/T-10", "pi/T-11", "pi/T-12", "pi/T-13", "pi/B-07", "br/BR-19")
def test_another_task_gets_one_briefing_with_the_right_facts(judged: Any) -> None:
    rpc = judged.rpc()
    rpc.prompt("Which port does the API gateway listen on?")
    rpc.prompt("Thanks. And the port of that API gateway, again?")
    rpc.prompt("Now something else: how is a payment refunded?")
    rpc.prompt("And who approves that payment?")
    assert rpc.close() == 0

    first, second, third, fourth = judged.server.conversation()[-4:]
    assert blocks(first) == ["recall"]
    assert blocks(second) == ["recall"]
    assert blocks(third) == ["recall", "briefing"]
    assert blocks(fourth) == ["recall", "briefing"]
    briefing = next(text for text in texts(third) if 'kind="briefing"' in text)
    assert PROSE in briefing
    assert GATEWAY not in briefing and COFFEE not in briefing
    assert "\n".join(texts(fourth)).count(PROSE) == 1
    assert "new task" in briefing and "new task" not in "\n".join(texts(second))
    stages = [request.stage for request in judged.server.requests if request.stage]
    assert stages.count("tasks/briefing") == 2
    assert stages.count("tasks/detect") == 3
    assert "bank/reflect" not in stages


@pytest.mark.spec("pi/T-03", "pi/T-04")
def test_the_detector_is_told_a_conversation_that_grows(judged: Any) -> None:
    rpc = judged.rpc()
    for prompt in ("Look at the API gateway.", "Go on with it.", "And once more, please."):
        rpc.prompt(prompt)
    rpc.close()

    told = [request for request in judged.server.requests if request.stage == "tasks/detect"]
    shorter, longer = (request.body["messages"] for request in told)
    roles = [message["role"] for message in longer if message["role"] != "system"]
    assert roles == ["user", "assistant", "user"]
    assert longer[: len(shorter)] == shorter
    assert "PREVIOUS ANSWER: Understood." in str(longer[-1])


@pytest.mark.spec("pi/T-10", "pi/T-16", "br/BR-65")
def test_after_a_compaction_the_facts_come_again_in_one_block(judged: Any) -> None:
    ask = "How is a payment refunded?"
    rpc = judged.rpc()
    rpc.prompt(ask + " Here is some more to think about." * 20)
    rpc.prompt(ask)
    rpc.prompt("Tell me something else about yourself. " * 20)
    assert rpc.command(type="compact")["success"] is True
    rpc.prompt(ask)
    rpc.close()

    conversation = judged.server.conversation()
    assert "\n".join(texts(conversation[0])).count(PROSE) == 1
    last = "\n".join(texts(conversation[-1]))
    assert blocks(conversation[-1]) == ["briefing"]
    assert last.count(PROSE) == 1
    assert last.count("There is a long-term memory") == 1


@pytest.mark.spec("pi/B-04", "pi/B-05", "pi/B-08")
def test_silent_turns_bring_a_reminder_and_never_two_blocks(judged: Any) -> None:
    judged.env["HINDSIGHT_MEM_REMINDER__TURNS"] = "3"
    rpc = judged.rpc()
    for number in range(5):
        rpc.prompt(f"Tell me joke number {number}.")
    rpc.prompt("Which port does the API gateway listen on?")
    rpc.close()

    told = [blocks(request) for request in judged.server.conversation()[-6:]]
    assert [len(kinds) for kinds in told] == [1, 1, 1, 2, 2, 3]
    assert told[-1] == ["reminder", "reminder", "recall"]
    whole = "\n".join(texts(judged.server.conversation()[-1]))
    assert whole.count("There is a long-term memory") == 1
    assert GATEWAY in whole


@pytest.mark.spec("pi/UB-05", "pi/UB-09", "pi/UB-12", "pi/G-04")
def test_the_system_prompt_says_what_is_known_about_the_person(judged: Any) -> None:
    judged.env["HINDSIGHT_MEM_BANK__USER_ID"] = "me"
    file = judged.project.parent / "me.jsonl"
    file.write_text(f'{{"text": "{TEA}"}}\n')
    judged.mem("bank", "import", str(file), "--bank", "me")
    (judged.project / "AGENTS.md").write_text("# Rules\n\n<!-- hindsight:user -->\n\nBe brief.\n")

    rpc = judged.rpc("--approve")
    rpc.prompt("Which port does the API gateway listen on?")
    rpc.prompt("And how is a payment refunded?")
    rpc.close()

    prompts = [system(request) for request in judged.server.conversation()[-2:]]
    assert prompts[0] == prompts[1]
    assert BLOCK.findall(prompts[0]) == ["user"]
    assert f"- {TEA}" in prompts[0]
    assert "<!-- hindsight:user -->" not in prompts[0]
    assert "Be brief." in prompts[0]
    offered = judged.server.conversation()[-1].body["tools"]
    assert "hindsight_retain_user" in {tool["function"]["name"] for tool in offered}


@pytest.mark.spec("pi/UB-01")
def test_without_a_user_bank_the_marker_stays_as_it_is(judged: Any) -> None:
    (judged.project / "AGENTS.md").write_text("# Rules\n\n<!-- hindsight:user -->\n\nBe brief.\n")

    judged.say("--approve", "-p", "Hello there.")

    assert "<!-- hindsight:user -->" in system(judged.server.conversation()[-1])


def system(request: Any) -> str:
    """The system message of a request."""
    return next(str(m["content"]) for m in request.body["messages"] if m["role"] == "system")
