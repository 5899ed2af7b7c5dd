from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path

import pytest

from hindsight_core.testing.model_server import ModelServer

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/session.jsonl"
PI = Path(__file__).resolve().parents[1] / "transcript/data/pi-session.jsonl"
SCRIPT = {
    "memorize/extract": {
        "facts": [
            {"text": "Holds expire after 7 minutes by contract.", "category": "constraints"},
            {"text": "seat_map loads holds with a joined load.", "category": "facts"},
        ]
    },
    "memorize/verify": {"keep": [1, 2]},
    "memorize/topics": {"queries": ["hold expiry"]},
    "memorize/dedup": {"known": [], "updates": []},
    "memorize/summary": "- Holds expire after 7 minutes.",
}


@pytest.fixture
def model(loopback, monkeypatch):
    with ModelServer(dict(SCRIPT)) as server:
        monkeypatch.setenv("HINDSIGHT_MEM_MODELS__BASE_URL", server.url)
        monkeypatch.setenv("HINDSIGHT_MEM_MODELS__MODEL", "scripted")
        yield server


def texts(mem):
    return sorted(fact["text"] for fact in mem("facts", "list", "--json").data["facts"])


def session(path: Path, *said: str) -> Path:
    lines = [
        {"id": f"e{i}", "role": "user", "parts": [{"type": "text", "text": text}]}
        for i, text in enumerate(said)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_the_example_without_a_model(mem):
    first = mem("remember", EXAMPLE, "--json")
    assert first.code == 0
    assert first.data["model"] is None
    [result] = first.data["files"]
    assert result["outcome"] == "stored"
    kept = " ".join(fact["text"] for fact in result["facts"])
    assert "PostgreSQL 16" in kept
    assert "7 minutes" in kept
    assert "5544" in kept
    assert "why CI is so slow" not in kept  # a question
    assert "N+1" not in kept  # the assistant's words


def test_twice_adds_nothing(mem):
    mem("remember", EXAMPLE)
    before = texts(mem)
    again = mem("remember", EXAMPLE, "--json")
    assert again.code == 0
    assert again.data["files"][0]["facts"] == []
    assert texts(mem) == before


def test_a_real_pi_session_with_a_model(mem, model):
    stored = mem("remember", PI, "--json")
    assert stored.code == 0
    assert stored.data["model"]
    assert len(texts(mem)) == 2
    stages = [request.stage for request in model.requests]
    assert stages[:2] == ["memorize/extract", "memorize/verify"]
    assert {request.mark for request in model.requests} == set(stages)
    calls = len(stages)
    assert mem("remember", PI, "--json").data["files"][0]["facts"] == []
    assert len(model.requests) == calls


@pytest.mark.spec("pi/D-02")
def test_a_model_that_is_down_marks_nothing_as_processed(mem, model):
    model.replies.set("memorize/extract", {"status": 500, "body": "down"})
    failed = mem("remember", EXAMPLE, "--json")
    assert failed.code == 1
    assert failed.data["files"][0]["outcome"] == "failed"
    assert "500" in failed.err
    assert texts(mem) == []
    model.replies.set("memorize/extract", SCRIPT["memorize/extract"])
    # the breaker of this process is its own; a new run asks again
    assert mem("remember", EXAMPLE, "--json").data["files"][0]["outcome"] == "stored"
    assert len(texts(mem)) == 2


def test_recall_in_a_new_process_finds_it(mem):
    mem("remember", EXAMPLE)
    found = mem("recall", "why PostgreSQL and not MongoDB?", "--json")
    assert found.code == 0
    assert found.data["outcome"] == "ok"
    assert "transactions" in found.data["hits"][0]["text"]


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("missing.jsonl", None, "missing.jsonl"),
        ("empty.jsonl", b"", "empty.jsonl"),
        ("binary.jsonl", bytes(range(256)) * 40, "binary.jsonl"),
        ("foreign.jsonl", b'{"kind": 1}\n{"kind": 2}\n{"kind": 3}\n', "foreign.jsonl"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(mem, name, content, told):
    if content is not None:
        Path(name).write_bytes(content)
    said = mem("remember", name, "--json")
    assert said.code == 2
    assert said.data["files"][0]["outcome"] == "unreadable"
    assert told in said.err


def test_one_bad_file_does_not_cost_the_others(mem, tmp_path):
    said = mem("remember", "nothing.jsonl", EXAMPLE, "--json")
    assert said.code == 2
    assert [result["outcome"] for result in said.data["files"]] == ["unreadable", "stored"]


def test_a_truncated_session_gives_what_it_holds(mem):
    whole = EXAMPLE.read_bytes()
    Path("cut.jsonl").write_bytes(whole[: len(whole) * 2 // 3])
    said = mem("remember", "cut.jsonl", "--json")
    assert said.code == 0
    assert "PostgreSQL 16" in " ".join(texts(mem))


def test_a_broken_database_is_set_aside_and_told(mem):
    mem("remember", EXAMPLE)
    [bank] = Path(os.environ["HINDSIGHT_MEM_HOME"], "banks").glob("*.db")
    for side in bank.parent.glob(f"{bank.name}-*"):
        side.unlink()
    bank.write_bytes(b"this is no database, " * 500)
    said = mem("recall", "PostgreSQL", "--json")
    assert said.code in (0, 1)
    assert list(bank.parent.glob(f"{bank.name}.corrupt-*"))


def test_a_broken_file_of_all_sessions_is_told(mem):
    mem("remember", EXAMPLE)
    home = Path(os.environ["HINDSIGHT_MEM_HOME"])
    for side in home.glob("queue.db-*"):
        side.unlink()
    (home / "queue.db").write_bytes(b"this is no database, " * 500)
    said = mem("review", "list")
    assert (said.code, said.out) == (0, "0 of 0\n")
    [aside] = home.glob("queue.db.corrupt-*")
    assert f"queue.db was damaged: it is kept as {aside}" in said.err
    assert mem("review", "list").err == ""


def test_a_bank_that_is_not_there_is_told_by_what_reads_it(mem):
    said = mem("recall", "--bank", "shpo", "PostgreSQL")
    assert (said.code, said.out) == (0, "nothing found\n")
    assert "there is no bank shpo yet; `hindsight-mem bank list` shows" in said.err
    mem("remember", EXAMPLE)
    assert mem("recall", "--bank", "shop", "PostgreSQL").err == ""


READING = [
    ("recall", "PostgreSQL"),
    ("recall", "--turn", "PostgreSQL"),
    ("reflect", "PostgreSQL"),
    ("facts", "list"),
    ("facts", "show", "f1"),
    ("documents", "list"),
    ("documents", "show", "d1"),
    ("bank", "show"),
    ("bank", "stats"),
    ("bank", "export"),
]


@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_what_only_reads_makes_no_bank(mem, command):
    first = mem(*command, "--bank", "shpo")
    assert "there is no bank shpo yet" in first.err
    assert not list(Path(os.environ["HINDSIGHT_MEM_HOME"]).glob("banks/*"))
    assert mem(*command, "--bank", "shpo").err == first.err


@pytest.mark.parametrize("blank", ["", "  "])
def test_a_blank_name_is_not_the_bank_of_the_project(mem, blank):
    mem("remember", EXAMPLE)
    said = mem("recall", "--bank", blank, "PostgreSQL")
    assert (said.code, said.out) == (2, "")
    assert "'--bank': is blank; name a bank" in said.err
    assert mem("bank", "delete", blank, "--yes").code == 2
    assert len(texts(mem)) >= 3


def test_a_document_that_is_not_there_gives_no_empty_line(mem):
    said = mem("documents", "delete", "nope", "--yes")
    assert (said.code, said.out) == (2, "")


def test_a_newer_database_is_refused_and_untouched(mem):
    mem("remember", EXAMPLE)
    [bank] = Path(os.environ["HINDSIGHT_MEM_HOME"], "banks").glob("*.db")
    with sqlite3.connect(bank) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    said = mem("recall", "PostgreSQL")
    assert said.code == 1
    assert "newer" in said.err
    with sqlite3.connect(bank) as connection:
        assert connection.execute("SELECT count(*) FROM facts").fetchone()[0] >= 3
    connection.close()


def test_read_only_refuses_every_write(mem, monkeypatch):
    monkeypatch.setenv("HINDSIGHT_MEM_BANK__READ_ONLY", "true")
    said = mem("remember", EXAMPLE)
    assert said.code in (1, 2)
    assert "read_only" in said.err
    assert texts(mem) == []


def test_no_project_says_what_to_do(mem, monkeypatch):
    monkeypatch.chdir("/")
    said = mem("remember", EXAMPLE)
    assert said.code == 2
    assert "--bank" in said.err


def test_a_changed_value_supersedes(mem, tmp_path):
    mem("remember", session(tmp_path / "a.jsonl", "Remember that the queue prefetch is 20."))
    mem("remember", session(tmp_path / "b.jsonl", "Remember that the queue prefetch is now 50."))
    live = texts(mem)
    assert len(live) == 1
    assert "50" in live[0]
    old = mem("facts", "list", "--state", "superseded", "--json").data["facts"]
    assert [fact["state"] for fact in old] == ["superseded"]


@pytest.mark.spec("br/BR-16")
@pytest.mark.parametrize("lead", ["", "We decided that "])
def test_a_reason_given_later_is_kept_and_the_bare_statement_can_be_restored(mem, tmp_path, lead):
    bare = f"{lead}we never deploy on Fridays".capitalize().replace("fridays", "Fridays")
    full = f"{bare} because support is away at weekends"
    for name, text in (("a", bare), ("b", full), ("c", bare)):
        (tmp_path / f"{name}.txt").write_text(f"{text}.\n")
        mem("remember", tmp_path / f"{name}.txt")
    assert texts(mem) == [full]
    [old] = mem("facts", "list", "--state", "superseded", "--json").data["facts"]
    assert old["text"] == bare
    assert mem("facts", "restore", old["id"]).code == 0
    assert texts(mem) == [bare, full]


@pytest.mark.parametrize("loss", ["garbage", "empty", "gone"])
def test_a_session_of_a_lost_bank_is_memorized_again(mem, loss):
    first = mem("remember", EXAMPLE, "--json").data["files"][0]["facts"]
    path = Path(mem("bank", "show", "--json").data["path"])
    match loss:
        case "garbage":
            path.write_text("no database")
        case "empty":
            path.write_bytes(b"")
        case _:
            path.unlink()
    mem("recall", "holds")
    again = mem("remember", EXAMPLE, "--json").data["files"][0]
    assert (again["outcome"], again["facts"]) == ("stored", first)
    assert mem("remember", EXAMPLE, "--json").data["files"][0]["outcome"] == "known"


def test_a_deleted_fact_stays_deleted_when_the_session_is_read_anew(mem, tmp_path):
    file = tmp_path / "session.jsonl"
    file.write_text('{"id": "a1", "role": "user", "content": "Never deploy on Fridays."}\n')
    (fact,) = mem("remember", file, "--json").data["files"][0]["facts"]
    assert mem("facts", "edit", fact["id"], "--text", "Deploys wait on Fridays.").code == 0
    assert mem("facts", "delete", fact["id"], "--yes").code == 0
    for name in ("queue.db", "state.db"):
        for lost in Path(os.environ["HINDSIGHT_MEM_HOME"]).glob(f"{name}*"):
            lost.unlink()
    again = mem("remember", file, "--json")
    assert again.data["files"][0]["facts"] == []
    assert mem("facts", "list", "--state", "all", "--json").data["total"] == 0


def test_a_session_file_of_another_agent(mem, tmp_path):
    def line(own: str, parent: str | None, text: str) -> str:
        message = {"role": "user", "content": text}
        record = {"type": "user", "uuid": own, "parentUuid": parent, "sessionId": "s-1"}
        return json.dumps({**record, "isSidechain": False, "message": message}) + "\n"

    path = tmp_path / "s-1.jsonl"
    path.write_text(
        line("u1", None, "Remember that the gateway listens on port 8443.")
        + line("u2", "u1", "<command-name>/clear</command-name>")
    )
    [result] = mem("remember", path, "--json").data["files"]
    assert (result["host"], result["session"]) == ("claude-code", "s-1")
    assert [fact["text"] for fact in result["facts"]] == ["The gateway listens on port 8443"]
