"""Two sessions of the real pi: the second knows what the first learned."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

from hindsight_core.testing.agent_server import texts

GATEWAY = "The API gateway listens on port 8443 behind nginx."
COFFEE = "The office coffee machine is descaled on Fridays."
BLOCK = "<hindsight-memory"


@pytest.mark.spec("br/BR-47")
def test_install_twice_changes_nothing_and_uninstall_leaves_the_rest(pi: Any) -> None:
    before = json.loads(pi.settings.read_text())

    pi.mem("install", "pi")
    once = pi.settings.read_text()
    again = json.loads(pi.mem("install", "pi", "--json"))

    assert again["changes"] == []
    assert pi.settings.read_text() == once
    assert len(json.loads(once)["extensions"]) == 1
    pi.mem("uninstall", "pi")
    assert json.loads(pi.settings.read_text()) == before
    assert not (pi.memory / "shims" / "pi").exists()


@pytest.mark.spec("br/BR-50", "br/BR-19", "br/BR-80")
def test_a_fact_is_in_the_request_once_and_never_in_the_session_file(pi: Any) -> None:
    pi.mem("install", "pi")
    pi.learn(GATEWAY, COFFEE)
    rpc = pi.rpc()
    rpc.prompt("Which port does the API gateway listen on?")
    rpc.prompt("Thanks. And the port of the API gateway behind nginx, again?")
    assert rpc.close() == 0

    first, second = pi.server.conversation()[-2:]
    for request in (first, second):
        whole = "\n".join(texts(request))
        assert whole.count(GATEWAY) == 1
        assert whole.count(BLOCK) == 1
        assert COFFEE not in whole
        block = next(text for text in texts(request) if BLOCK in text)
        assert block.startswith('<hindsight-memory kind="recall">')
        assert block.rstrip().endswith("</hindsight-memory>")
    session = "".join(file.read_text() for file in pi.session_files())
    assert '"Which port does the API gateway listen on?"' in session, "the person's own words"
    assert len(pi.session_files()) == 1, "no session of a helper"
    assert BLOCK not in session
    assert GATEWAY not in session


@pytest.mark.spec("pi/M-01", "pi/M-02", "br/BR-11")
def test_the_second_session_knows_what_the_first_was_told(pi: Any) -> None:
    pi.mem("install", "pi")
    pi.say("-p", f"Remember that {GATEWAY}")
    pi.say("-p", "Remember that the staging cluster is called heron.")
    assert sum("8443" in fact for fact in pi.facts()) == 1

    rpc = pi.rpc()
    rpc.prompt("Which port does the API gateway listen on?")
    rpc.prompt("And what is the port of that API gateway again?")
    rpc.close()

    for request in pi.server.conversation()[-2:]:
        (block,) = [text for text in texts(request) if BLOCK in text]
        assert block.count("8443") == 1
        assert "heron" not in block
    session = pi.session_files()[-1].read_text()
    assert BLOCK not in session
    assert "8443" not in session


@pytest.mark.spec("pi/M-01", "br/BR-22", "br/BR-65", "pi/M-27")
def test_a_compacted_session_is_memorized_and_recalled_anew(pi: Any) -> None:
    pi.mem("install", "pi")
    pi.learn("The staging cluster is called heron.")
    ask = "What is the staging cluster called?"
    rpc = pi.rpc()
    rpc.prompt(f"Remember that {GATEWAY} " + "Here is some more to think about. " * 20)
    rpc.prompt(ask)
    rpc.prompt("Tell me something else about yourself. " * 20)
    compacted = rpc.command(type="compact")
    rpc.prompt(ask)
    assert rpc.close() == 0

    assert compacted["success"] is True
    assert sum("8443" in fact for fact in pi.facts()) == 1
    last = "\n".join(texts(pi.server.conversation()[-1]))
    assert last.count("called heron") == 1
    assert last.count(BLOCK) == 1
    assert BLOCK not in "".join(file.read_text() for file in pi.session_files())


@pytest.mark.spec("pi/G-01", "pi/G-02")
def test_tools_are_offered_and_a_call_goes_round(pi: Any) -> None:
    def agent(request: Any) -> object:
        if any(m.get("role") == "tool" for m in request.body["messages"]):
            return "It is 8443."
        call = {"name": "hindsight_recall", "arguments": {"query": "API gateway port"}}
        return {"call": call}

    pi.mem("install", "pi")
    pi.learn(GATEWAY, COFFEE)
    pi.server.replies.set("", agent)

    said = pi.say("--no-session", "-p", "Look it up.")

    request = pi.server.conversation()[-1]
    offered = {tool["function"]["name"] for tool in request.body["tools"]}
    result = next(m for m in request.body["messages"] if m["role"] == "tool")
    assert offered >= {
        "hindsight_recall",
        "hindsight_retain",
        "hindsight_reflect",
        "hindsight_forget",
    }
    assert GATEWAY in json.dumps(result)
    assert "8443" in said


@pytest.mark.spec("br/BR-50")
def test_stages_are_asked_of_pis_own_model(pi: Any) -> None:
    pi.mem("install", "pi")
    pi.learn(GATEWAY, COFFEE)
    pi.env["HINDSIGHT_MEM_MODELS__PROVIDER"] = "host"
    pi.server.replies.set("recall/queries", {"queries": ["API gateway port"]})
    pi.server.replies.set("recall/judge", {"score": 90, "keep": [1]})

    rpc = pi.rpc()
    rpc.prompt("Which port does the API gateway listen on?")
    rpc.close()

    asked = [r for r in pi.server.requests if r.stage]
    assert [r.stage for r in asked][:2] == ["recall/queries", "recall/judge"]
    assert all(r.mark == r.stage for r in asked)
    assert GATEWAY in "\n".join(texts(pi.server.conversation()[-1]))


@pytest.mark.spec("br/BR-11")
def test_the_tail_of_a_killed_session_is_recovered_by_the_next(pi: Any) -> None:
    pi.mem("install", "pi")
    rpc = pi.rpc()
    rpc.prompt("Remember that the staging cluster is called heron.")
    rpc.kill()
    assert not any("heron" in fact for fact in pi.facts())

    pi.say("-p", "Hello there.")
    assert sum("heron" in fact for fact in pi.facts()) == 1


@pytest.mark.spec("pi/U-04")
@pytest.mark.parametrize("flag", ["--mem-only-tools", "--no-session"])
def test_tools_only(pi: Any, flag: str) -> None:
    pi.mem("install", "pi")
    pi.learn(GATEWAY)

    pi.say(flag, "-p", "Remember that x is y. Which port does the API gateway listen on?")

    request = pi.server.conversation()[-1]
    assert BLOCK not in "\n".join(texts(request))
    assert "hindsight_recall" in {tool["function"]["name"] for tool in request.body["tools"]}
    assert pi.facts() == [GATEWAY]


GARBAGE = """\
import sys, time
mode = sys.argv[1]
if mode == "garbage":
    for line in sys.stdin:
        sys.stdout.write('{"jsonrpc": "2.0", "id": 1, "result": nonsense\\n\\x00\\xff[]\\nnull\\n')
        sys.stdout.flush()
elif mode == "hang":
    sys.stdin.read()
    time.sleep(1)
elif mode == "exit":
    sys.exit(3)
"""


@pytest.mark.spec("br/BR-01", "br/BR-31", "br/BR-34")
@pytest.mark.parametrize("mode", ["garbage", "hang", "exit", "missing"])
def test_a_broken_child_costs_no_turn(pi: Any, mode: str) -> None:
    pi.mem("install", "pi")
    child = pi.home / "child.py"
    child.write_text(GARBAGE)
    launch = pi.memory / "shims" / "pi" / "launch.json"
    program = "/no/such/python" if mode == "missing" else sys.executable
    launch.write_text(json.dumps({"command": [program, str(child), mode], "env": {}}))

    rpc = pi.rpc()
    rpc.prompt("Hello there.")
    rpc.prompt("And again.")
    assert rpc.close() == 0

    assert len(pi.server.conversation()) == 2
    assert len(rpc.notices()) == 1


@pytest.mark.spec("br/BR-01")
def test_a_child_that_is_killed_in_the_middle_comes_back(pi: Any) -> None:
    pi.mem("install", "pi")
    pi.learn(GATEWAY)
    rpc = pi.rpc()
    rpc.prompt("Remember that the staging cluster is called heron.")
    for child in children(rpc.process.pid):
        os.kill(child, signal.SIGKILL)
    rpc.prompt("Which port does the API gateway listen on?")
    rpc.close()
    told = rpc.notices()
    pi.say("-p", "Hello there.")

    assert len(pi.server.conversation()) == 3
    assert len([text for text in told if "stopped" in text]) == 1
    assert sum("heron" in fact for fact in pi.facts()) == 1


def children(pid: int) -> list[int]:
    """Processes that a process started."""
    listed = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False
    )
    return [int(line) for line in listed.stdout.split()]


@pytest.mark.spec("pi/M-01", "pi/M-27")
def test_a_new_session_in_the_same_process(pi: Any) -> None:
    pi.mem("install", "pi")
    rpc = pi.rpc()
    rpc.prompt("Remember that the staging cluster is called heron.")
    assert rpc.command(type="new_session")["success"] is True
    rpc.prompt("What is the staging cluster called?")
    rpc.prompt("And what is that staging cluster called again?")
    assert rpc.close() == 0

    for request in pi.server.conversation()[-2:]:
        (block,) = [text for text in texts(request) if BLOCK in text]
        assert block.count("heron") == 1
    assert sum("heron" in fact for fact in pi.facts()) == 1
    assert len(pi.session_files()) == 2


def test_escape_during_recall_injects_nothing_and_the_next_turn_does(pi: Any) -> None:
    pi.mem("install", "pi")
    pi.learn(GATEWAY)
    pi.server.replies.set("recall/queries", {"delay_s": 20, "text": "{}"})
    ask = "Which port does the API gateway listen on?"
    rpc = pi.rpc()
    rpc.send(type="prompt", message=ask)
    while not [r for r in pi.server.requests if r.stage == "recall/queries"]:
        time.sleep(0.05)
    rpc.send(type="abort")
    rpc.wait(lambda e: e.get("type") == "agent_settled")
    aborted = len(pi.server.conversation())
    pi.server.replies.set("recall/queries", "NONE")
    rpc.prompt(ask)
    rpc.close()

    assert aborted == 0
    assert "\n".join(texts(pi.server.conversation()[-1])).count(GATEWAY) == 1


@pytest.mark.spec("pi/C-13", "br/BR-01")
def test_without_a_declared_bank_pi_works_as_if_nothing_were_there(pi: Any) -> None:
    pi.mem("install", "pi", "--opt-in")

    rpc = pi.rpc()
    rpc.prompt("Remember that the staging cluster is called heron.")
    rpc.close()

    request = pi.server.conversation()[-1]
    assert not [t for t in request.body["tools"] if "hindsight" in t["function"]["name"]]
    assert BLOCK not in "\n".join(texts(request))
    assert rpc.notices() == []
    assert not (pi.memory / "banks").exists()


def test_settings_that_cannot_be_parsed_stay_as_they_are(pi: Any) -> None:
    pi.settings.write_text('{"defaultProvider": "stub",\n oops}')

    pi.mem("install", "pi", code=2)

    assert pi.settings.read_text() == '{"defaultProvider": "stub",\n oops}'
