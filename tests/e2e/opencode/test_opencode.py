"""opencode by its server and by `run`: what the model gets, what is on disk."""

from __future__ import annotations

import json
import os
import signal
from typing import Any

import pytest

from hindsight_core.testing.models import Replies

GATEWAY = "The gateway listens on port 8443."
SCHEDULER = "The scheduler listens on port 9000."
PROFILE = {"profile": "opencode-hindsight"}
BUILD = {"bankId": "b1", "retainEveryNTurns": 2}
PLAN = {"bankId": "b2", "tags": ["secret-team"]}


@pytest.mark.spec("oc/O-EV-1", "oc/O-EV-2", "oc/O-EV-9", "oc/O-CFG-6")
def test_two_agents_have_two_banks_and_a_child_none(opencode: Any, recalled: Any) -> None:
    opencode.install(options=PROFILE, agents={"build": BUILD, "plan": PLAN})
    opencode.learn("b1", GATEWAY)
    opencode.learn("b2", SCHEDULER)
    opencode.serve()
    one, two, three = opencode.session(), opencode.session(), opencode.session()
    child = opencode.session(parentID=one)

    (build,) = opencode.say(one, "Go on.", agent="build")
    (again,) = opencode.say(one, "And on.", agent="build")
    (plan,) = opencode.say(two, "Go on.", agent="plan")
    (none,) = opencode.say(three, "Go on.", agent="general")
    (below,) = opencode.say(child, "Go on.", agent="build")

    assert GATEWAY in recalled(build) and SCHEDULER not in recalled(build)
    assert SCHEDULER in recalled(plan) and GATEWAY not in recalled(plan)
    assert recalled(none) == recalled(below) == ""
    systems = [m["content"] for r in (build, again) for m in r.body["messages"][:1]]
    assert systems[0] == systems[1], "the provider's cache needs the same text"
    roles = [m["role"] for m in build.body["messages"]]
    assert roles == ["system", "user"], "folded into the one system message"
    sent = json.dumps([r.body for r in opencode.server.requests])
    assert "bankId" not in sent and "secret-team" not in sent, "options of ours are nobody's"
    titles = [r for r in opencode.server.requests if not r.body.get("tools")]
    assert titles and all(recalled(title) == "" for title in titles)


@pytest.mark.spec("oc/O-RET-1", "oc/O-RET-2", "oc/O-EV-3", "oc/O-EV-4", "oc/O-CMP-1", "oc/O-CMP-5")
def test_interval_compaction_and_sudden_death(opencode: Any, recalled: Any) -> None:
    opencode.install(options=PROFILE, agents={"build": BUILD})
    opencode.learn("b1", GATEWAY)
    opencode.serve()
    one = opencode.session()
    opencode.say(one, "The gateway is slow.")
    assert opencode.documents("b1") == {}
    opencode.say(one, "Look at the gateway.")
    opencode.until(lambda: "Look at" in opencode.documents("b1").get(one, ""))

    opencode.say(one, "Third.")
    model = {"providerID": "stub", "modelID": "stub"}
    opencode.api("POST", f"/session/{one}/summarize", model)
    summary = next(r for r in opencode.server.requests if "context summarization" in str(r.body))
    opencode.until(lambda: "Third." in opencode.documents("b1")[one])
    kept = opencode.documents("b1")[one]
    assert GATEWAY in recalled(summary), "the summary is made with what memory knows"
    assert "hindsight-memory" not in summary.body["messages"][0]["content"]

    (after,) = opencode.say(one, "Fourth.")
    assert GATEWAY in recalled(after)
    # It is idle a moment after it has answered; from then on it may die as it likes.
    opencode.until(lambda: opencode.is_on_disk("Fourth."))
    opencode.stop(signal.SIGTERM)
    assert opencode.documents("b1") == {one: kept}, "no turn of ours is due yet"
    opencode.serve()
    opencode.say(opencode.session(), "Another session.")

    opencode.until(lambda: "Fourth." in "".join(opencode.documents("b1").values()))
    texts = opencode.documents("b1")
    assert all(word in "".join(texts.values()) for word in ("slow", "Look at", "Third."))
    assert "What did we do so far?" not in "".join(texts.values())


@pytest.mark.spec("oc/O-EV-10", "oc/O-CFG-6")
def test_directories_share_one_process_and_each_knows_its_agents(
    opencode: Any, recalled: Any
) -> None:
    opencode.install(options=PROFILE, agents={"build": BUILD})
    opencode.learn("b1", GATEWAY)
    other = opencode.folder / "other"
    (other / ".git").mkdir(parents=True)
    opencode.serve()

    here = opencode.say(opencode.session(), "Go on.", agent="build")
    there = opencode.session(directory=str(other))
    (elsewhere,) = opencode.say(there, "Go on.", agent="build", directory=str(other))

    assert GATEWAY in recalled(here[0]) and GATEWAY in recalled(elsewhere)
    assert "bankId" not in json.dumps(elsewhere.body)
    assert len(opencode.bridges()) == 1


@pytest.mark.spec("oc/O-CFG-2")
def test_run_with_an_agent_of_front_matter(opencode: Any, recalled: Any) -> None:
    opencode.install(options=PROFILE)
    opencode.learn("t1", GATEWAY)
    agents = opencode.project / ".opencode/agent"
    agents.mkdir(parents=True)
    (agents / "tester.md").write_text(
        "---\ndescription: tests\nmode: primary\nhindsight:\n  bankId: t1\n"
        "  retainEveryNTurns: 1\n---\nYou test.\n"
    )

    opencode.run("Where does the gateway listen?", "--agent", "tester")

    (asked,) = [r for r in opencode.server.requests if r.body.get("tools")]
    assert GATEWAY in recalled(asked)
    assert "hindsight" not in asked.body and "bankId" not in json.dumps(asked.body)
    (text,) = opencode.documents("t1").values()
    assert text.strip() == "User: Where does the gateway listen?\n\nAssistant: Understood."


@pytest.mark.spec("oc/O-TOOL-1", "oc/O-TOOL-2", "oc/O-TOOL-3")
def test_the_tools_and_turns_of_the_default_profile(opencode: Any, recalled: Any) -> None:
    def model(request: Any) -> object:
        last = request.body["messages"][-1]
        if last["role"] != "tool" and "store it" in str(last["content"]):
            return {"call": {"name": "hindsight_retain", "arguments": {"content": SCHEDULER}}}
        return "Understood."

    opencode.server.replies = Replies({"": model, "*": "NONE"})
    opencode.install()
    opencode.mem("config", "set", "bank.id", "shop")
    opencode.learn("shop", GATEWAY)
    opencode.serve()
    one = opencode.session()

    first, second = opencode.say(one, "Please store it: the scheduler's port is 9000.")
    (third,) = opencode.say(one, "Which port does the gateway use?")
    (fourth,) = opencode.say(one, "Thank you.")

    assert second.body["messages"][-1]["role"] == "tool"
    assert SCHEDULER in opencode.mem("facts", "list", "--bank", "shop")
    names = [tool["function"]["name"] for tool in first.body["tools"]]
    assert {"hindsight_recall", "hindsight_retain", "hindsight_reflect"} <= set(names)
    (retain,) = [t for t in first.body["tools"] if t["function"]["name"] == "hindsight_retain"]
    assert retain["function"]["parameters"]["required"] == ["content"]
    assert recalled(third).count(GATEWAY) == 1
    assert recalled(fourth).count(GATEWAY) == 1, "it stays at its place in the request"
    stored = json.dumps(opencode.api("GET", f"/session/{one}/message"))
    assert "hindsight-memory" not in stored, "nothing is written into opencode's session"


@pytest.mark.spec("oc/O-EV-6", "oc/O-EV-12")
def test_a_memory_that_is_not_there_costs_no_turn(opencode: Any) -> None:
    opencode.install()
    launch = opencode.memory / "shims/opencode/launch.json"
    launch.write_text(json.dumps({"command": ["/no/such/program"], "env": {}}))
    opencode.serve()
    one = opencode.session()

    assert len(opencode.say(one, "Go on.")) == 1
    assert len(opencode.say(one, "And on.")) == 1
    opencode.api("POST", "/instance/dispose", {})

    told = [line for line in opencode.log() if "Memory" in line]
    assert len(told) == 1 and "/no/such/program" in told[0]


@pytest.mark.spec("oc/O-EV-6")
def test_a_memory_that_dies_is_told_once_and_comes_back(opencode: Any, recalled: Any) -> None:
    opencode.install()
    opencode.mem("config", "set", "bank.id", "shop")
    opencode.learn("shop", GATEWAY)
    opencode.serve()
    one = opencode.session()
    (first,) = opencode.say(one, "Which port does the gateway use?")
    (bridge,) = opencode.bridges()
    os.kill(bridge, signal.SIGKILL)
    opencode.until(lambda: not opencode.bridges())

    assert GATEWAY in recalled(first)
    assert len(opencode.say(one, "And the gateway's?")) == 1
    assert len([line for line in opencode.log() if "Memory stopped" in line]) == 1


@pytest.mark.spec("oc/O-CFG-1")
def test_without_configuration_there_is_one_line_and_no_hook(opencode: Any) -> None:
    opencode.install(options=PROFILE)
    opencode.serve()

    (asked,) = opencode.say(opencode.session(), "Go on.")

    names = [tool["function"]["name"] for tool in asked.body["tools"]]
    assert not [name for name in names if "hindsight" in name]
    assert len([line for line in opencode.log() if "memory is dormant" in line]) == 1
