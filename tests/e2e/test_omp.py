"""Two sessions of the real omp: the second knows what the first learned."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from hindsight_core.testing.agent_server import texts

pytestmark = pytest.mark.timeout(200)
GATEWAY = "The API gateway listens on port 8443 behind nginx."
COFFEE = "The office coffee machine is descaled on Fridays."
HERON = "the staging cluster is called heron."
ASK = "Which port does the API gateway listen on?"
BLOCK = "<hindsight-memory"
OWN_MEMORY = "memory: {backend: hindsight}\nhindsight: {apiUrl: 'http://127.0.0.1:9'}\n"


def offered(request: Any) -> set[str]:
    return {tool["function"]["name"] for tool in request.body.get("tools", [])}


def test_install_twice_changes_nothing_and_uninstall_leaves_the_rest(omp: Any) -> None:
    before = {path: path.read_bytes() for path in omp.agent.rglob("*") if path.is_file()}

    omp.mem("install", "omp")
    again = json.loads(omp.mem("install", "omp", "--json"))
    omp.mem("uninstall", "omp")

    assert again["changes"] == []
    assert {path: path.read_bytes() for path in omp.agent.rglob("*") if path.is_file()} == before


@pytest.mark.spec("pi/M-01", "pi/M-02", "br/BR-11")
def test_the_second_session_knows_what_the_first_was_told(omp: Any) -> None:
    omp.mem("install", "omp")
    omp.say("-p", f"Remember that {GATEWAY}")
    omp.say("-p", f"Remember that {HERON}")
    assert sum("8443" in fact for fact in omp.facts()) == 1

    rpc = omp.rpc().ready()
    rpc.prompt(ASK)
    rpc.prompt("And what is the port of that API gateway again?")
    assert rpc.close() == 0

    for request in omp.server.conversation()[-2:]:
        (block,) = [text for text in texts(request) if BLOCK in text]
        assert block.startswith('<hindsight-memory kind="recall">')
        assert block.rstrip().endswith("</hindsight-memory>")
        assert block.count("8443") == 1
        assert "heron" not in block
    session = omp.session_files()[-1].read_text()
    assert BLOCK not in session
    assert "8443" not in session


@pytest.mark.spec("br/BR-50", "br/BR-19")
def test_a_fact_is_in_the_request_once_and_never_in_the_session_file(omp: Any) -> None:
    omp.mem("install", "omp")
    omp.learn(GATEWAY, COFFEE)
    rpc = omp.rpc().ready()
    rpc.prompt(ASK)
    rpc.prompt("Thanks. And the port of the API gateway behind nginx, again?")
    assert rpc.close() == 0

    for request in omp.server.conversation()[-2:]:
        whole = "\n".join(texts(request))
        assert whole.count(GATEWAY) == 1
        assert whole.count(BLOCK) == 1
        assert COFFEE not in whole
    session = "".join(file.read_text() for file in omp.session_files())
    assert "API gateway" in session
    assert BLOCK not in session
    assert GATEWAY not in session


@pytest.mark.spec("pi/M-01", "br/BR-22")
def test_a_compacted_session_is_memorized_and_recalled_anew(omp: Any) -> None:
    omp.mem("install", "omp")
    omp.learn("The staging cluster is called heron.")
    ask = "What is the staging cluster called?"
    rpc = omp.rpc().ready()
    rpc.prompt(f"Remember that {GATEWAY} " + "Here is some more to think about. " * 20)
    rpc.prompt(ask)
    rpc.prompt("Tell me something else about yourself. " * 20)
    compacted = rpc.command(type="compact")
    rpc.prompt(ask)
    assert rpc.close() == 0

    assert compacted["success"] is True
    assert sum("8443" in fact for fact in omp.facts()) == 1
    last = "\n".join(texts(omp.server.conversation()[-1]))
    assert last.count("called heron") == 1
    assert last.count(BLOCK) == 1
    assert BLOCK not in "".join(file.read_text() for file in omp.session_files())


@pytest.mark.parametrize("mode", ["yolo", "always-ask"])
def test_tools_are_always_offered_and_a_call_goes_round(omp: Any, mode: str) -> None:
    def agent(request: Any) -> object:
        if any(m.get("role") == "tool" for m in request.body["messages"]):
            return "It is 8443."
        arguments = {"query": "API gateway port", "i": "Looking it up"}
        return {"call": {"name": "hindsight_recall", "arguments": arguments}}

    omp.mem("install", "omp")
    omp.learn(GATEWAY, COFFEE)
    omp.settings.write_text(f"{omp.settings.read_text()}tools: {{approvalMode: {mode}}}\n")
    omp.server.replies.set("", agent)

    request = omp.ask("Look it up.")

    result = next(m for m in request.body["messages"] if m["role"] == "tool")
    names = ("recall", "retain", "reflect", "forget")
    assert offered(request) >= {f"hindsight_{name}" for name in names}
    assert GATEWAY in json.dumps(result)


@pytest.mark.spec("br/BR-50")
def test_stages_are_asked_of_omps_own_model(omp: Any) -> None:
    omp.mem("install", "omp")
    omp.learn(GATEWAY, COFFEE)
    omp.env["HINDSIGHT_MEM_MODELS__PROVIDER"] = "host"
    omp.server.replies.set("recall/queries", {"queries": ["API gateway port"]})
    omp.server.replies.set("recall/judge", {"score": 90, "keep": [1]})

    omp.ask(ASK)

    asked = [r for r in omp.server.requests if r.stage]
    assert [r.stage for r in asked][:2] == ["recall/queries", "recall/judge"]
    assert all(r.mark == r.stage for r in asked)
    assert GATEWAY in "\n".join(texts(omp.server.conversation()[-1]))


@pytest.mark.spec("br/BR-11")
def test_the_tail_of_a_killed_session_is_recovered_by_the_next_once(omp: Any) -> None:
    omp.mem("install", "omp")
    rpc = omp.rpc().ready()
    rpc.prompt(f"Remember that {HERON}")
    rpc.kill()
    assert not any("heron" in fact for fact in omp.facts())

    omp.say("-p", "Hello there.")
    omp.say("-p", "Hello again.")
    assert sum("heron" in fact for fact in omp.facts()) == 1


@pytest.mark.parametrize("flag", ["--mem-only-tools", "--no-session"])
def test_tools_only(omp: Any, flag: str) -> None:
    omp.mem("install", "omp")
    omp.learn(GATEWAY)

    rpc = omp.rpc(flag)
    rpc.prompt(f"Remember that x is y. {ASK}")
    rpc.prompt(ASK)
    assert rpc.close() == 0

    request = omp.server.conversation()[-1]
    assert BLOCK not in "\n".join(texts(request))
    assert "hindsight_recall" in offered(request)
    assert omp.facts() == [GATEWAY]


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
def test_a_broken_child_costs_no_turn(omp: Any, mode: str) -> None:
    omp.mem("install", "omp")
    child = omp.home / "child.py"
    child.write_text(GARBAGE)
    launch = omp.agent / "extensions/hindsight-mem/launch.json"
    program = "/no/such/python" if mode == "missing" else sys.executable
    launch.write_text(json.dumps({"command": [program, str(child), mode], "env": {}}))

    rpc = omp.rpc()
    rpc.prompt("Hello there.")
    rpc.prompt("And again.")
    assert rpc.close() == 0

    assert len(omp.server.conversation()) == 2
    assert len(rpc.notices()) == 1


@pytest.mark.spec("br/BR-01")
def test_a_child_that_is_killed_in_the_middle_comes_back(omp: Any) -> None:
    omp.mem("install", "omp")
    omp.learn(GATEWAY)
    rpc = omp.rpc().ready()
    rpc.prompt(f"Remember that {HERON}")
    for child in bridges(rpc.process.pid):
        os.kill(child, signal.SIGKILL)
    rpc.prompt(ASK)
    rpc.close()
    told = rpc.notices()
    omp.say("-p", "Hello there.")

    assert len(omp.server.conversation()) == 3
    # One cause of trouble is told once; where the machine is busy it had started slowly.
    assert len([text for text in told if "stopped" in text or "slowly" in text]) == 1
    assert sum("heron" in fact for fact in omp.facts()) == 1


def bridges(pid: int) -> list[int]:
    """Memory processes that a process started."""
    command = ["ps", "-ww", "-o", "pid=,args=", "--ppid", str(pid)]
    listed = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = listed.stdout.splitlines()
    return [int(line.split()[0]) for line in lines if "bridge" in line and "omp" in line]


def gone(pid: int) -> bool:
    """Whether a process has ended, with some time to do so."""
    end = time.monotonic() + 10
    while Path(f"/proc/{pid}").exists():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def test_the_memory_process_ends_with_omp(omp: Any) -> None:
    omp.mem("install", "omp")
    for leave in ("close", "kill"):
        rpc = omp.rpc().ready()
        rpc.prompt("Hello there.")
        (child,) = bridges(rpc.process.pid)
        getattr(rpc, leave)()
        assert gone(child)


@pytest.mark.spec("pi/M-01", "pi/M-27")
def test_a_new_session_in_the_same_process(omp: Any) -> None:
    omp.mem("install", "omp")
    rpc = omp.rpc().ready()
    rpc.prompt(f"Remember that {HERON}")
    (child,) = bridges(rpc.process.pid)
    assert rpc.command(type="new_session")["success"] is True
    assert bridges(rpc.process.pid) == [child]
    rpc.until_stored(omp, "heron")
    rpc.prompt("What is the staging cluster called?")
    rpc.prompt("And what is that staging cluster called again?")
    assert rpc.close() == 0

    for request in omp.server.conversation()[-2:]:
        (block,) = [text for text in texts(request) if BLOCK in text]
        assert block.count("heron") == 1
    assert sum("heron" in fact for fact in omp.facts()) == 1
    assert len(omp.session_files()) == 2


def test_an_abort_during_recall_costs_nothing_and_the_next_turn_has_the_fact(omp: Any) -> None:
    omp.mem("install", "omp")
    omp.learn(GATEWAY)
    omp.server.replies.set("recall/queries", {"delay_s": 4, "text": "{}"})
    rpc = omp.rpc().ready()
    rpc.send(type="prompt", message=ASK)
    while not [r for r in omp.server.requests if r.stage == "recall/queries"]:
        time.sleep(0.05)
    rpc.send(type="abort")
    # The answer to the abort and the end of the aborted turn come in either order.
    awaited = {"abort", "agent_end"}
    while awaited:
        event = rpc.wait(lambda e: True)
        awaited -= {event.get("command"), event["type"]}
    aborted = len(omp.server.conversation())
    omp.server.replies.set("recall/queries", "NONE")
    rpc.prompt(ASK)
    rpc.close()

    assert aborted == 0
    assert "\n".join(texts(omp.server.conversation()[-1])).count(GATEWAY) == 1


def test_beside_omps_own_memory_this_one_stays_off_and_says_so_once(omp: Any) -> None:
    omp.settings.write_text(omp.settings.read_text() + OWN_MEMORY)
    installed = json.loads(omp.mem("install", "omp", "--json"))
    omp.learn(GATEWAY)
    rpc = omp.rpc()
    rpc.prompt(f"Remember that {HERON}")
    rpc.prompt(ASK)
    assert rpc.close() == 0
    printed = omp.run("-p", ASK).stderr

    assert any("memory.backend: hindsight" in note for note in installed["notes"])
    (notice,) = [text for text in rpc.notices() if "slowly" not in text and "again" not in text]
    assert notice.startswith("Memory is off: omp's own memory (memory.backend: hindsight) is on")
    assert printed.count(notice) == 1
    for request in omp.server.conversation():
        assert BLOCK not in "\n".join(texts(request))
        assert not [name for name in offered(request) if name.startswith("hindsight_")]
    assert omp.facts() == [GATEWAY]
    assert json.loads(omp.mem("queue", "list", "--json"))["total"] == 0


@pytest.mark.spec("pi/C-13", "br/BR-01")
def test_without_a_declared_bank_omp_works_as_if_nothing_were_there(omp: Any) -> None:
    omp.mem("install", "omp", "--opt-in")

    rpc = omp.rpc()
    rpc.prompt(f"Remember that {HERON}")
    rpc.close()

    request = omp.server.conversation()[-1]
    assert not [name for name in offered(request) if name.startswith("hindsight_")]
    assert BLOCK not in "\n".join(texts(request))
    assert [text for text in rpc.notices() if "slowly" not in text and "again" not in text] == []
    assert not (omp.memory / "banks").exists()


def test_an_original_plugin_in_omps_settings_is_found(omp: Any) -> None:
    original = omp.home / "src/pi-hindsight/index.ts"
    original.parent.mkdir(parents=True)
    original.write_text("export default function () {}\n")
    before = omp.settings.read_text()
    omp.settings.write_text(f"{before}extensions:\n  - {original} # the old one\n")
    refused = omp.mem("install", "omp", code=2)

    omp.mem("install", "omp", "--replace")

    assert refused == ""
    assert omp.settings.read_text() == before
    backup = omp.settings.with_name("config.yml.hindsight-backup")
    assert "the old one" in backup.read_text()
    omp.learn(GATEWAY)
    assert GATEWAY in "\n".join(texts(omp.ask(ASK)))


def test_a_projects_own_list_of_extensions_does_not_take_memory_away(omp: Any) -> None:
    omp.mem("install", "omp")
    omp.learn(GATEWAY)
    project = omp.project / ".omp"
    project.mkdir()
    (project / "other.ts").write_text("export default function () {}\n")
    (project / "config.yml").write_text(f"extensions: [{project / 'other.ts'}]\n")

    assert GATEWAY in "\n".join(texts(omp.ask(ASK)))


def test_settings_that_cannot_be_parsed_stay_as_they_are(omp: Any) -> None:
    omp.settings.write_text("theme: dark\n oops: [\n")

    omp.mem("install", "omp", code=2)

    assert omp.settings.read_text() == "theme: dark\n oops: [\n"


def test_a_sub_agent_has_tools_and_a_recall_and_writes_nothing(omp: Any) -> None:
    def agent(request: Any) -> object:
        answered = any(m.get("role") == "tool" for m in request.body["messages"])
        if "yield" in offered(request):
            return {"call": {"name": "yield", "arguments": {"data": "8443", "i": "Done"}}}
        task = {"name": "Scout", "task": f"Scout's own words: {ASK}"}
        arguments = {"agent": "task", "context": "none", "tasks": [task], "i": "Delegating"}
        return "All done." if answered else {"call": {"name": "task", "arguments": arguments}}

    omp.mem("install", "omp")
    omp.learn(GATEWAY)
    omp.server.replies.set("", agent)
    rpc = omp.rpc().ready()
    rpc.prompt("Let a scout look.")
    rpc.wait(lambda e: e.get("type") == "agent_end")
    assert rpc.close() == 0

    scouts = [r for r in omp.server.conversation() if "yield" in offered(r)]
    (block,) = [text for text in texts(scouts[0]) if BLOCK in text]
    assert GATEWAY in block
    assert "hindsight_recall" in offered(scouts[0])
    held = [
        path for path in omp.memory.glob("*.db*") if b"Complete assignment" in path.read_bytes()
    ]
    assert held == []
    assert omp.facts() == [GATEWAY]
