"""The resident process: one, whatever happens, and gone when nobody needs it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import sys

import pytest

from hindsight_core import __version__
from hindsight_core.daemon.place import frame

FACT = "The API gateway listens on port 8443 behind nginx."
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@pytest.fixture
def running(hooks):
    """Hooks with a daemon."""
    hooks.learn(FACT)
    hooks.run("SessionStart", hooks.prompt(source="startup"))
    assert hooks.daemon() is not None
    return hooks


def told(reply) -> str:
    return reply.get("hookSpecificOutput", {}).get("additionalContext", "")


def session_file(hooks, *texts: str) -> str:
    """A session file of the agent; the person and the assistant in turn."""
    file = hooks.project.parent / "session.jsonl"
    with file.open("w") as lines:
        for number, text in enumerate(texts):
            role = "assistant" if number % 2 else "user"
            record = {
                "type": role,
                "uuid": f"u{number}",
                "parentUuid": f"u{number - 1}" if number else None,
                "message": {"role": role, "content": text},
            }
            lines.write(json.dumps(record) + "\n")
    return str(file)


def facts(hooks) -> list[str]:
    listed = json.loads(hooks.mem("facts", "list", "--json"))
    return [fact["text"] for fact in listed["facts"]]


def asked_by(hooks, version: str) -> bytes:
    """What a hook of some version is answered."""
    token = (hooks.home / "daemon.token").read_bytes()
    fields = [b"hindsight-hook/1", token, version.encode(), b"claude-code", b"Stop", b"/"]
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(hooks.home / "daemon.sock"))
        connection.sendall(frame(fields, b"{}"))
        return b"".join(iter(lambda: connection.recv(4096), b""))


@pytest.mark.spec("br/BR-14")
def test_hooks_side_by_side_start_one_daemon_and_all_are_answered(hooks):
    hooks.learn(FACT)
    started = [hooks.start("UserPromptSubmit", hooks.prompt(f"s-{n % 4}")) for n in range(16)]
    replies = [process.communicate(timeout=50) for process in started]
    assert [(p.returncode, err) for p, (_, err) in zip(started, replies, strict=True)] == [
        (0, b"")
    ] * 16
    assert len(hooks.daemons()) == 1
    shown = [told(json.loads(out)) for out, _ in replies]
    assert sum("8443" in text for text in shown) >= 4


def test_a_daemon_that_has_nothing_to_do_leaves(hooks):
    hooks.env["HINDSIGHT_MEM_DAEMON_IDLE_S"] = "0.2"
    hooks.mem("config", "set", "bank.id", "auto")
    hooks.run("SessionStart", hooks.prompt(source="startup"))
    hooks.run("SessionEnd", hooks.prompt(reason="other"))
    assert hooks.until(lambda: hooks.daemons() == [])
    assert not (hooks.home / "daemon.sock").exists()


@pytest.mark.spec("br/BR-31")
def test_an_upgraded_program_gets_a_daemon_of_its_own_kind(running):
    before = running.daemon()
    assert asked_by(running, "999.0") == b".-"
    assert running.until(lambda: running.daemon() is None)
    running.run("UserPromptSubmit", running.prompt())
    assert running.until(lambda: running.daemon() not in (None, before))


@pytest.mark.parametrize("version", [__version__, "0.0.1", "garbage"])
def test_an_older_hook_is_answered(running, version):
    before = running.daemon()
    assert asked_by(running, version) == b".+{}"
    assert running.daemon() == before


def test_a_home_that_is_removed_ends_its_daemon(running):
    def removed() -> bool:
        # A file that is being written meanwhile makes it fail once.
        shutil.rmtree(running.home, ignore_errors=True)
        return not running.home.exists()

    assert running.until(removed)
    assert running.until(lambda: running.daemons() == [])


def test_a_socket_that_somebody_tidied_up_comes_back(running):
    before = running.daemon()
    (running.home / "daemon.sock").unlink()
    assert running.until(lambda: (running.home / "daemon.sock").exists())
    assert "8443" in told(running.run("UserPromptSubmit", running.prompt()))
    assert running.daemons() == [before]


def test_a_lock_that_is_another_file_now_ends_the_daemon_that_held_the_first(running):
    before = running.daemon()
    (running.home / "daemon.lock").unlink()
    (running.home / "daemon.sock").unlink()
    assert "8443" in told(running.run("UserPromptSubmit", running.prompt()))
    assert running.until(lambda: running.daemons() not in ([], [before]))
    assert running.until(lambda: before not in running.daemons())


@pytest.mark.spec("br/BR-11")
def test_what_a_session_was_told_is_stored_after_it_without_another_one(running):
    file = session_file(running, "Remember that the staging cluster is called heron.", "Noted.")
    running.run("Stop", running.prompt(transcript_path=file, last_assistant_message="Noted."))
    running.run("SessionEnd", running.prompt(transcript_path=file, reason="other"))
    assert running.until(lambda: any("heron" in fact for fact in facts(running)))
    assert sum("heron" in fact for fact in facts(running)) == 1


@pytest.mark.spec("br/BR-11")
def test_a_killed_daemon_loses_nothing(running):
    file = session_file(running, "Remember that the staging cluster is called heron.", "Noted.")
    running.run("Stop", running.prompt(transcript_path=file, last_assistant_message="Noted."))
    pid = running.daemon()
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert running.until(lambda: running.daemons() == [])
    # Another session of the bank takes up what the first one left.
    running.run("SessionStart", running.prompt("s-2", source="startup"))
    assert running.until(lambda: any("heron" in fact for fact in facts(running)))


def test_told_to_go_it_makes_durable_what_it_holds_and_asks_no_model(running):
    file = session_file(running, "Remember that the staging cluster is called heron.", "Noted.")
    running.run("Stop", running.prompt(transcript_path=file, last_assistant_message="Noted."))
    pid = running.daemon()
    assert pid is not None
    os.kill(pid, signal.SIGTERM)
    assert running.until(lambda: running.daemons() == [])
    running.run("SessionEnd", running.prompt(transcript_path=file, reason="other"))
    assert running.until(lambda: any("heron" in fact for fact in facts(running)))
    assert sum("heron" in fact for fact in facts(running)) == 1


@pytest.mark.spec("br/BR-01", "br/BR-35")
def test_a_bank_that_is_down_costs_no_prompt_and_is_told_once(hooks):
    hooks.env["HINDSIGHT_MEM_BANK__ID"] = "shop"
    hooks.env["HINDSIGHT_MEM_HINDSIGHT__BASE_URL"] = "http://127.0.0.1:9"
    hooks.run("SessionStart", hooks.prompt(source="startup"))
    replies = [hooks.run("UserPromptSubmit", hooks.prompt()) for _ in range(8)]
    told = [reply["systemMessage"] for reply in replies if "systemMessage" in reply]
    assert len(told) <= 1
    assert all("continue" not in reply for reply in replies)


@pytest.mark.spec("br/BR-25")
def test_a_sub_agents_hooks_store_nothing(running):
    file = session_file(running, "Remember that child facts are not kept here.", "Noted.")
    inside = {"agent_id": "a7", "transcript_path": file}
    assert "8443" in told(running.run("UserPromptSubmit", running.prompt(**inside)))
    running.run("Stop", running.prompt(**inside, last_assistant_message="Noted."))
    running.run("SubagentStop", running.prompt(**inside))
    running.run("SessionEnd", running.prompt(reason="other"))
    assert running.until(lambda: running.daemon() is not None)
    assert facts(running) == [FACT]


def test_each_session_has_the_environment_of_its_own_hooks(running):
    off = {"HINDSIGHT_MEM_RECALL__ENABLED": "false"}
    assert "8443" not in told(running.run("UserPromptSubmit", running.prompt("s-3"), **off))
    assert "8443" in told(running.run("UserPromptSubmit", running.prompt("s-4")))


def test_a_hook_that_its_agent_ends_leaves_no_trace(running):
    """The block of an aborted prompt is not counted as shown."""
    ask = running.start("UserPromptSubmit", running.prompt("s-5"))
    ask.kill()
    ask.communicate(timeout=20)
    again = running.run("UserPromptSubmit", running.prompt("s-5"))
    assert "8443" in told(again)
