from __future__ import annotations

import os
import sqlite3
from contextlib import closing
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
