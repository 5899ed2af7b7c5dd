"""``hindsight-mem hook`` as a process: it answers, and it never costs a prompt."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

FACT = "The API gateway listens on port 8443 behind nginx."
OFF = {"HINDSIGHT_MEM_DAEMON": "off"}
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


def told(reply) -> str:
    return reply.get("hookSpecificOutput", {}).get("additionalContext", "")


@pytest.mark.parametrize("env", [OFF, {}], ids=["alone", "daemon"])
@pytest.mark.spec("br/BR-50", "br/BR-19")
def test_a_prompt_gets_its_fact_once_a_session(hooks, env):
    hooks.learn(FACT)
    first = hooks.run("UserPromptSubmit", hooks.prompt(), **env)
    assert first["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
    assert told(first).count("8443") == 1
    assert "8443" not in told(hooks.run("UserPromptSubmit", hooks.prompt(), **env))
    assert "8443" in told(hooks.run("UserPromptSubmit", hooks.prompt("s-2"), **env))
    assert (hooks.daemon() is None) == (env == OFF)


@pytest.mark.parametrize("env", [OFF, {}], ids=["alone", "daemon"])
@pytest.mark.parametrize(
    "garbage",
    [
        b"",
        b"{",
        b"\xff\xfe\0",
        b"[]",
        b"null",
        b'{"session_id": 3}',
        b'{"a":' * 5_000,
        b"7" * 5_000,
    ],
)
@pytest.mark.spec("br/BR-01")
def test_garbage_on_stdin_is_answered_with_nothing(hooks, env, garbage):
    assert hooks.run("UserPromptSubmit", garbage, **env) == {}
    assert hooks.run("NoSuchEvent", garbage, **env) == {}


@pytest.mark.spec("br/BR-04")
def test_inside_a_process_that_memory_started_hooks_do_nothing(hooks):
    hooks.learn(FACT)
    assert hooks.run("UserPromptSubmit", hooks.prompt(), HINDSIGHT_MEM_INSIDE="1") == {}
    assert hooks.daemons() == []


def test_hosts_and_words_that_nobody_knows_are_no_veto(hooks):
    for arguments in ([], ["claude-code"], ["no-such-host", "Stop"], ["mcp", "Stop"], ["--", "x"]):
        done = subprocess.run(
            [sys.executable, "-P", "-m", "hindsight_core", "hook", *arguments],
            input=b'{"session_id": "s"}', env={**hooks.env, **OFF}, cwd=hooks.project,
            capture_output=True, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stdout, done.stderr) == (0, b"{}", b"")


@pytest.mark.spec("br/BR-01", "br/BR-31")
def test_a_core_that_is_half_installed_is_no_veto(hooks, tmp_path):
    broken = tmp_path / "broken"
    source = Path(sys.modules["hindsight_core"].__file__).parent
    for name in ("__init__.py", "__main__.py", "cli/__init__.py", "cli/entry.py"):
        target = broken / "hindsight_core" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text((source / name).read_text())
    for extra in ("", "raise RuntimeError('half')"):
        if extra:
            (broken / "hindsight_core/daemon").mkdir()
            (broken / "hindsight_core/daemon/__init__.py").write_text(extra)
        code = "import sys; sys.path.insert(0, sys.argv.pop(1)); import runpy; "
        code += "sys.argv[0] = 'm'; runpy.run_module('hindsight_core', run_name='__main__')"
        done = subprocess.run(
            [sys.executable, "-I", "-c", code, str(broken), "hook", "codex", "Stop"],
            input=b"{}", env=hooks.env, capture_output=True, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stdout, done.stderr) == (0, b"{}", b"")


@pytest.mark.spec("br/BR-76", "br/BR-35")
def test_a_home_that_cannot_be_written_is_no_veto_and_told_once(hooks, tmp_path):
    hooks.home.write_text("a file where the folder should be")
    env = {"HINDSIGHT_MEM_BANK__ID": "shop"}
    first, *others = [hooks.run("UserPromptSubmit", hooks.prompt(), **env) for _ in range(4)]
    assert set(first) == {"systemMessage"}
    assert others == [{}] * 3
    assert hooks.run("UserPromptSubmit", hooks.prompt("s-2"), **env) == first
    [folder] = tmp_path.glob("hindsight-mem-*")
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o777)
    assert hooks.run("UserPromptSubmit", hooks.prompt(), **env) == first


def test_a_path_longer_than_sqlite_opens_is_named_as_what_it_is(hooks, tmp_path):
    hooks.home = tmp_path.joinpath(*["of many letters " * 12] * 4)
    hooks.env["HINDSIGHT_MEM_HOME"] = str(hooks.home)
    reply = hooks.run("UserPromptSubmit", hooks.prompt(), HINDSIGHT_MEM_BANK__ID="shop")
    assert "longer path than SQLite opens" in reply["systemMessage"]


def test_a_folder_that_is_gone_is_no_veto(hooks, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    code = "import os, sys; os.chdir(sys.argv[1]); os.rmdir(sys.argv[1]); "
    code += (
        "os.execv(sys.executable, [sys.executable, '-P', '-m', 'hindsight_core', *sys.argv[2:]])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(gone), "hook", "claude-code", "UserPromptSubmit"],
        input=b'{"session_id": "s", "prompt": "Which port?"}',
        env={**hooks.env, **OFF}, capture_output=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")


def test_an_environment_without_a_home_or_a_language_is_no_veto(hooks):
    hooks.env = {"HINDSIGHT_MEM_HOME": str(hooks.home), "HINDSIGHT_MEM_DAEMON_IDLE_S": "30"}
    assert hooks.run("UserPromptSubmit", hooks.prompt()) == {}


@pytest.mark.spec("br/BR-56")
def test_a_daemon_that_does_not_answer_is_left_alone_and_done_without(hooks):
    hooks.learn(FACT)
    hooks.run("SessionStart", hooks.prompt(source="startup"))
    pid = hooks.daemon()
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    try:
        assert "8443" in told(hooks.run("UserPromptSubmit", hooks.prompt()))
        assert hooks.daemons() == [pid]
    finally:
        os.kill(pid, signal.SIGCONT)


@pytest.mark.spec("br/BR-37")
def test_a_socket_that_a_dead_daemon_left_is_replaced(hooks):
    hooks.learn(FACT)
    hooks.run("SessionStart", hooks.prompt(source="startup"))
    pid = hooks.daemon()
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert hooks.until(lambda: hooks.daemon() is None)
    assert (hooks.home / "daemon.sock").exists()
    assert "8443" in told(hooks.run("UserPromptSubmit", hooks.prompt()))
    assert hooks.until(lambda: hooks.daemon() not in (None, pid))


def test_the_home_may_have_a_long_name(hooks, tmp_path):
    hooks.home = tmp_path / ("long" * 30) / "memory"
    hooks.env["HINDSIGHT_MEM_HOME"] = str(hooks.home)
    hooks.learn(FACT)
    hooks.run("SessionStart", hooks.prompt(source="startup"))
    assert hooks.daemon() is not None
    assert "8443" in told(hooks.run("UserPromptSubmit", hooks.prompt()))


def test_socket_and_token_are_the_users_alone(hooks):
    hooks.run("SessionStart", hooks.prompt(source="startup"))
    for name in ("daemon.sock", "daemon.token", "daemon.lock"):
        assert (hooks.home / name).stat().st_mode & 0o777 == 0o600


def test_nobody_without_the_token_gets_an_answer(hooks):
    hooks.learn(FACT)
    hooks.run("SessionStart", hooks.prompt(source="startup"))
    from hindsight_core.daemon.place import frame

    fields = [b"hindsight-hook/1", b"guessed", b"0.1.0", b"claude-code", b"UserPromptSubmit", b"/"]
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(os.path.relpath(hooks.home / "daemon.sock"))
        connection.sendall(frame(fields, b'{"session_id": "s"}'))
        answer = b"".join(iter(lambda: connection.recv(4096), b""))
    assert answer == b".-"
