from __future__ import annotations

import json
import os
import sqlite3
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hindsight_core.testing.model_server import ModelServer


def levels(said):
    return {finding["name"]: finding["level"] for finding in said.data["findings"]}


def test_an_empty_home_is_fine_and_says_that_there_is_no_model(mem):
    said = mem("doctor", "--json")
    assert said.code == 0
    found = levels(said)
    assert found["bank"] == "ok"
    assert found["queue"] == "ok"
    assert found["model"] == "warning"
    assert mem("facts", "list", "--state", "all", "--json").data["total"] == 0


def test_a_model_that_does_not_answer_is_a_failure(mem, loopback, monkeypatch):
    with ModelServer({"doctor": {"status": 401, "body": "{}"}}) as server:
        monkeypatch.setenv("HINDSIGHT_MEM_MODELS__BASE_URL", server.url)
        monkeypatch.setenv("HINDSIGHT_MEM_MODELS__MODEL", "scripted")
        said = mem("doctor", "--json")
    assert said.code == 1
    assert levels(said)["model for recall"] == "failed"


def test_a_wrong_template_is_named(mem):
    mem("prompts", "copy", "recall/judge")
    override = Path(os.environ["HINDSIGHT_MEM_HOME"], "templates/recall/judge.j2")
    override.write_text("{{ requst }} {{ query }} {{ facts }}")
    said = mem("doctor", "--json")
    texts = [f["text"] for f in said.data["findings"] if f["name"] == "templates"]
    assert any("requst" in text for text in texts)


def test_a_host_that_is_not_wired_and_then_is(mem, tmp_path, monkeypatch):
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path / "agent"))
    before = mem("doctor", "--host", "pi", "--json")
    assert before.code == 1
    assert levels(before)["pi wiring"] == "failed"
    assert mem("install", "pi").code == 0
    after = mem("doctor", "--host", "pi", "--json")
    assert after.code == 0
    assert levels(after)["pi wiring"] == "ok"
    assert levels(after)["pi bridge"] == "ok"


def test_an_unknown_host_is_a_usage_error(mem):
    said = mem("doctor", "--host", "nowhere")
    assert said.code == 2
    assert "installed" in said.err


@pytest.mark.parametrize("name", ["state.db", "queue.db"])
def test_a_file_of_a_newer_program_or_a_broken_one_is_a_failure(mem, name):
    mem("doctor")
    file = Path(os.environ["HINDSIGHT_MEM_HOME"], name)
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA user_version = 9999")
    newer = mem("doctor", "--json")
    assert newer.code == 1
    assert levels(newer)[name] == "failed"
    for suffix in ("-wal", "-shm"):
        file.with_name(name + suffix).unlink(missing_ok=True)
    file.write_bytes(b"not a database at all " * 400)
    broken = mem("doctor", "--json")
    assert broken.code == 1
    assert levels(broken)[name] == "failed"
    assert levels(mem("doctor", "--json"))[name] == "ok"


def test_a_file_that_is_no_configuration_is_told_and_not_called_none(mem):
    home = Path(os.environ["HINDSIGHT_MEM_HOME"])
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.toml").mkdir()
    found = [f for f in mem("doctor", "--json").data["findings"] if f["name"] == "configuration"]
    assert [f["level"] for f in found] == ["warning"]
    assert "cannot be read: Is a directory" in found[0]["text"]
    said = mem("config", "check")
    assert said.code == 2
    assert "config.toml: cannot be read" in said.out + said.err


def log_line(home, **fields):
    """One entry of the activity log, as a session of an earlier hour wrote it."""
    folder = home / "logs"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"activity-{fields['ts'][:10]}.jsonl").open("a") as file:
        file.write(json.dumps(fields) + "\n")


def texts_of(said, name):
    return [f["text"] for f in said.data["findings"] if f["name"] == name]


def test_each_contours_last_success_and_failure_are_named(mem):
    home = Path(os.environ["HINDSIGHT_MEM_HOME"])
    day = datetime.now(UTC).date().isoformat()
    log_line(home, ts=f"{day}T01:00:00+00:00", type="recall", session="a", outcome="injected")
    log_line(home, ts=f"{day}T02:00:00+00:00", type="recall", session="b", outcome="failed",
             reason="the bank did not answer")  # fmt: skip
    log_line(home, ts=f"{day}T03:00:00+00:00", type="error", session="b", bank="shop",
             reason="no model")  # fmt: skip
    log_line(home, ts=f"{day}T04:00:00+00:00", type="retain", session="b", bank="shop",
             outcome="stored", facts=["x"])  # fmt: skip
    log_line(home, ts=f"{day}T05:00:00+00:00", type="error", session="b", bank="another",
             reason="not ours")  # fmt: skip

    said = mem("doctor", "--json")

    assert levels(said)["last recall"] == "warning"
    [recall] = texts_of(said, "last recall")
    assert f"failed {day} 02:00 UTC: the bank did not answer" in recall
    assert f"worked {day} 01:00 UTC" in recall
    assert levels(said)["last memorize"] == "ok"
    [memorize] = texts_of(said, "last memorize")
    assert f"worked {day} 04:00 UTC" in memorize and "no model" in memorize
    assert "stored" not in levels(said)


def test_sessions_that_left_nothing_are_counted_with_what_to_do(mem):
    home = Path(os.environ["HINDSIGHT_MEM_HOME"])
    day = datetime.now(UTC).date().isoformat()
    log_line(home, ts=f"{day}T00:00:00+00:00", type="retain", session="z", bank="shop",
             outcome="stored", facts=["x"])  # fmt: skip
    for hour, session in enumerate("abcc", start=1):
        log_line(home, ts=f"{day}T0{hour}:00:00+00:00", type="recall", session=session,
                 outcome="empty")  # fmt: skip

    said = mem("doctor", "--json")

    [found] = [f for f in said.data["findings"] if f["name"] == "stored"]
    assert found["text"] == "nothing was stored in the last 3 sessions"
    assert "Without a model" in found["advice"]
    mem("config", "set", "memorize.enabled", "false")
    [found] = [f for f in mem("doctor", "--json").data["findings"] if f["name"] == "stored"]
    assert "memorize.enabled" in found["advice"]


def test_a_log_that_is_off_is_no_history_of_success(mem):
    mem("config", "set", "log.activity", "false")
    said = mem("doctor", "--json")
    assert levels(said)["history"] == "warning"
    assert "last recall" not in levels(said)


def test_every_wired_host_is_tried_through_what_it_starts(mem, monkeypatch):
    monkeypatch.setenv("HINDSIGHT_MEM_DAEMON", "off")
    assert mem("install", "codex").code == 0

    said = mem("doctor", "--json")

    found = levels(said)
    assert (found["codex wiring"], found["codex hook"], found["codex tools"]) == ("ok",) * 3
    assert "claude-code wiring" not in found
    assert texts_of(said, "codex tools") == ["written, read back, deleted"]
    assert mem("facts", "list", "--state", "all", "--json").data["total"] == 0


def test_a_host_whose_file_cannot_be_read_any_more_is_named(mem, monkeypatch):
    monkeypatch.setenv("HINDSIGHT_MEM_DAEMON", "off")
    mem("install", "codex")
    file = Path(os.environ["HOME"], ".codex/hooks.json")
    file.write_text("{\n oops")

    said = mem("doctor", "--json")

    assert said.code == 1
    [text] = texts_of(said, "codex wiring")
    assert f"{file}, line 2" in text


def test_a_bank_that_is_away_fails_through_the_host_too(mem, monkeypatch, loopback):
    monkeypatch.setenv("HINDSIGHT_MEM_DAEMON", "off")
    monkeypatch.setenv("HINDSIGHT_MEM_HINDSIGHT__BASE_URL", "http://127.0.0.1:9")
    mem("install", "codex")

    said = mem("doctor", "--host", "codex", "--json")

    assert said.code == 1
    assert levels(said)["codex tools"] == "failed"
    assert mem("queue", "list", "--json").data["jobs"] == []


def test_a_note_that_was_stored_by_hand_counts_as_stored(mem):
    home = Path(os.environ["HINDSIGHT_MEM_HOME"])
    day = datetime.now(UTC).date().isoformat()
    for session in "abc":
        log_line(home, ts=f"{day}T00:00:00+00:00", type="recall", session=session,
                 outcome="empty")  # fmt: skip
    note = Path("note.txt")
    note.write_text("Remember that the gateway listens on port 8443.")
    assert mem("remember", note).code == 0
    for file in (home / "logs").glob("activity-*"):
        kept = [line for line in file.read_text().splitlines() if '"retain"' not in line]
        file.write_text("\n".join(kept) + "\n")

    assert "stored" not in levels(mem("doctor", "--json"))


def test_an_agent_whose_print_mode_could_answer_is_named(mem, tmp_path, monkeypatch):
    program = tmp_path / "claude"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    said = mem("doctor", "--json")

    found = [f for f in said.data["findings"] if f["name"] == "print mode"]
    assert [f["level"] for f in found] == ["ok", "warning"]
    assert str(program) in found[0]["text"]
    assert "models.provider command" in found[1]["advice"]


def test_what_in_a_hosts_own_settings_keeps_memory_off(mem, monkeypatch):
    monkeypatch.setenv("HINDSIGHT_MEM_DAEMON", "off")
    config = Path(os.environ["HOME"], ".omp/agent/config.yml")
    config.parent.mkdir(parents=True)
    config.write_text("memory: {backend: hindsight}\n")
    mem("install", "omp")

    said = mem("doctor", "--host", "omp", "--json")
    config.write_text("memory: {backend: off}\n")
    after = mem("doctor", "--host", "omp", "--json")

    assert said.code == 0
    assert levels(said)["omp settings"] == "warning"
    assert "set memory.backend to off" in texts_of(said, "omp settings")[0]
    assert levels(said)["omp bridge"] == "ok"
    assert "omp settings" not in levels(after)


@pytest.mark.parametrize(("unknown", "level"), [(3, "ok"), (30, "warning")])
def test_records_of_session_files_that_nobody_could_read_are_counted(mem, unknown, level):
    mem("doctor", "--json")
    state = Path(os.environ["HINDSIGHT_MEM_HOME"], "state.db")
    memo = json.dumps({"records": 100, "unknown": unknown})
    rows = [("claude-code", "s-1", memo), ("codex", "s-2", '{"records": 7, "unknown": 0}')]
    with closing(sqlite3.connect(state)) as connection, connection:
        connection.executemany("INSERT INTO hook_sessions VALUES (?, ?, ?, 1)", rows)

    said = mem("doctor", "--json")

    [found] = [f for f in said.data["findings"] if f["name"] == "transcripts"]
    assert found["level"] == level
    assert found["text"].startswith(f"claude-code: {unknown} of 100 records")


def test_tools_that_need_the_sdk_are_a_warning_that_says_what_to_install(mem, monkeypatch):
    monkeypatch.setenv("HINDSIGHT_MEM_DAEMON", "off")
    mem("install", "gemini")
    monkeypatch.setitem(sys.modules, "mcp", None)

    said = mem("doctor", "--host", "gemini", "--json")

    assert said.code == 0
    [found] = [f for f in said.data["findings"] if f["name"] == "gemini tools"]
    assert found["level"] == "warning"
    assert "pip install 'hindsight-core[mcp]'" in found["advice"]
    assert "pip install" in mem("install", "mcp").out
