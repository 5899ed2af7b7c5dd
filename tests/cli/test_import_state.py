"""``import state``: what the replaced plugins have left behind is taken over, once."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from hindsight_core.config.layers import load
from hindsight_core.memorize.lifecycle.place import memory_project
from hindsight_core.testing.model_server import ModelServer
from hindsight_core.testing.transcripts import TranscriptBuilder

OLD = "Remember that the API gateway listens on port 8443 behind nginx."
STUDIED = "Remember that the billing worker retries five times."
NEW = "Remember that deployments run on Tuesday."


class Kept:
    """A pi session that an older plugin watched.

    Attributes:
        path: Its file.
        ids: Of what was said, in order; each is followed by an answer.
    """

    def __init__(self, path: Path, *said: str, cwd: Path) -> None:
        talk = TranscriptBuilder(path.stem, host="pi", cwd=str(cwd))
        for text in said:
            talk.user(text)
            talk.assistant("Understood.")
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = talk.write_pi(path)
        self.ids = [entry.id for entry in talk.entries]

    def state(self, **data: Any) -> None:
        """The record of pi-hindsight at the session's end."""
        self.add("custom", customType="hindsight-state", data=data)

    def add(self, kind: str, **more: Any) -> str:
        """One more record; its id."""
        lines = self.path.read_text().splitlines()
        last, own = json.loads(lines[-1])["id"], f"x{len(lines)}"
        record = {"type": kind, "id": own, "parentId": last, "timestamp": "2026-02-01T00:00:00Z"}
        self.path.write_text("\n".join([*lines, json.dumps({**record, **more})]) + "\n")
        return own

    def says(self, text: str) -> None:
        """The session goes on."""
        self.add("message", message={"role": "user", "content": [{"type": "text", "text": text}]})

    @property
    def key(self) -> str:
        """By which s1enhanced knows it."""
        return hashlib.sha256(str(self.path).encode()).hexdigest()[:16]


@pytest.fixture
def kept(mem):
    folder = Path(os.environ["HOME"]) / ".pi/agent/sessions/--x--"

    def make(session_id: str, *said: str) -> Kept:
        return Kept(folder / f"{session_id}.jsonl", *said, cwd=Path.cwd())

    return make


@pytest.fixture
def plugin(mem, monkeypatch) -> Path:
    """The plugin's own folder in the project."""
    folder = Path.cwd() / ".pi/hindsight"
    (folder / "session-meta").mkdir(parents=True)
    (Path.cwd() / ".git/HEAD").write_text("ref: refs/heads/main\n")
    # Such files would make the bank one on a server.
    monkeypatch.setenv("HINDSIGHT_MEM_BANK__BACKEND", "sqlite")
    return folder


def adopted(mem, *options: str, code: int = 0) -> dict[str, dict[str, Any]]:
    said = mem("import", "state", "--json", *options)
    assert said.code == code, said.err
    return {row["name"]: row for row in said.data["state"]}


def facts(mem) -> list[str]:
    return sorted(f["text"] for f in mem("facts", "list", "--json").data["facts"])


@pytest.mark.spec("pi/M-04", "pi/M-07")
def test_a_session_goes_on_behind_its_watermark(mem, kept):
    session = kept("a", OLD)
    session.state(watermark=session.ids[-1])
    session.says(NEW)

    assert adopted(mem, "--dry-run")["watermarks of sessions"]["adopted"] == 1
    assert adopted(mem)["watermarks of sessions"]["adopted"] == 1
    assert adopted(mem)["watermarks of sessions"]["known"] == 1
    mem("import", "sessions", "pi")

    assert facts(mem) == ["Deployments run on Tuesday"]


def test_a_watermark_on_a_record_that_says_nothing(mem, kept):
    session = kept("a", OLD)
    silent = session.add("model_change", modelId="x")
    session.state(watermark=silent)
    session.says(NEW)
    adopted(mem)
    mem("import", "sessions", "pi")
    assert facts(mem) == ["Deployments run on Tuesday"]


@pytest.mark.spec("pi/X-05", "pi/X-06")
@pytest.mark.parametrize("form", [list, lambda r: {"startId": r[0], "endId": r[1]}])
def test_saved_ranges_are_saved_here_too(mem, kept, loopback, monkeypatch, form):
    session = kept("a", OLD, STUDIED, NEW)
    session.state(savedRanges=[form([session.ids[1], session.ids[3]])])
    adopted(mem)
    script = {"memorize/extract": {"facts": []}, "*": "NONE"}
    with ModelServer(script) as model:
        monkeypatch.setenv("HINDSIGHT_MEM_MODELS__BASE_URL", model.url)
        monkeypatch.setenv("HINDSIGHT_MEM_MODELS__MODEL", "scripted")
        mem("import", "sessions", "pi")
    [asked] = [r.prompt for r in model.requests if r.stage == "memorize/extract"]
    saved = asked.split("[ALREADY SAVED TO MEMORY]")[-1].split("[END ALREADY SAVED]")[0]
    assert "five times" in saved
    assert "Tuesday" not in saved


@pytest.mark.spec("s1/S-CUR-4")
@pytest.mark.parametrize(
    "cursor",
    [
        {"index": 1, "messageIds": [None, None], "fingerprints": ["f", "f"]},
        ["fingerprint one", "fingerprint two"],
        {"fingerprints": ["f", "f"]},
        {"index": 99, "messageIds": ["{1}"]},
    ],
)
def test_a_session_goes_on_behind_its_retain_cursor(mem, kept, plugin, cursor):
    session = kept("a", OLD, NEW)
    text = json.dumps({"version": 3, "sessions": {session.key: cursor}})
    (plugin / "retain-cursors.json").write_text(text.replace("{1}", session.ids[1]))

    assert adopted(mem)["retain cursors"]["adopted"] == 1
    assert adopted(mem)["retain cursors"]["known"] == 1
    mem("import", "sessions", "pi")

    assert facts(mem) == ["Deployments run on Tuesday"]


@pytest.mark.spec("s1/S-CUR-5")
def test_a_cursor_file_that_is_broken_is_told(mem, kept, plugin):
    kept("a", OLD)
    (plugin / "retain-cursors.json").write_text("{ broken")
    assert "retain-cursors.json, line 1" in adopted(mem, code=1)["retain cursors"]["left"][0]


def job(content: object, *, document: str = "pi-session:1", **more: Any) -> dict[str, Any]:
    return {
        "id": "j1",
        "bankId": "shop",
        "createdAt": "2026-01-02T03:04:05Z",
        "documentId": document,
        "updateMode": "append",
        "item": {"content": content, "context": "shop", "tags": ["source:pi"]},
        "retries": 0,
        **more,
    }


def put(path: Path, *jobs: object) -> None:
    path.write_text("".join(j if isinstance(j, str) else json.dumps(j) + "\n" for j in jobs))


@pytest.mark.spec("s1/S-Q-5")
def test_writes_that_waited_are_in_an_embedded_bank(mem, kept, plugin):
    said = json.dumps([{"role": "user", "content": [{"type": "text", "text": OLD}]}], indent=2)
    put(plugin / "retain-queue.jsonl", job(said), "no line of a queue\n")
    put(
        plugin / "retain-queue.dead.jsonl",
        job("Invoices are numbered by year.", document="pi-explicit:2", retries=5),
    )

    first = adopted(mem, code=1)["queued writes"]
    assert first["adopted"] == 2
    assert "line 2" in first["left"][0]
    assert facts(mem) == [
        "Invoices are numbered by year.",
        "The API gateway listens on port 8443 behind nginx",
    ]
    again = adopted(mem, code=1)["queued writes"]
    assert (again["adopted"], again["known"]) == (0, 2)
    assert len(facts(mem)) == 2
    assert (plugin / "retain-queue.jsonl").exists()


@pytest.mark.spec("s1/S-Q-6", "s1/S-Q-1")
def test_writes_for_a_server_wait_in_our_queue(mem, kept, plugin, monkeypatch):
    monkeypatch.setenv("HINDSIGHT_MEM_BANK__BACKEND", "hindsight")
    monkeypatch.setenv("HINDSIGHT_MEM_HINDSIGHT__BASE_URL", "http://127.0.0.1:9")
    secret = "sk-" + "a1B2" * 10
    put(plugin / "retain-queue.jsonl", job("One."), job("Two."), job(f"Key {secret} leaked."))
    dead = {"deadLetteredAt": "2026-01-03T00:00:00Z", "lastError": "HTTP 500", "retries": 5}
    put(
        plugin / "retain-queue.dead.jsonl",
        job("Three.", document="d3", updateMode="replace", **dead),
    )

    assert adopted(mem)["queued writes"]["adopted"] == 4
    assert adopted(mem)["queued writes"]["known"] == 4

    rows = mem("queue", "list", "--json").data["jobs"]
    assert sorted(row["state"] for row in rows) == ["dead", "pending", "pending", "pending"]
    assert len({row["document_id"] for row in rows}) == 4
    [row] = [row for row in rows if row["state"] == "dead"]
    assert (row["document_id"], row["reason"]) == ("d3", "HTTP 500")
    home = Path(os.environ["HINDSIGHT_MEM_HOME"])
    assert not any(secret.encode() in path.read_bytes() for path in home.glob("queue.db*"))


@pytest.mark.spec("s1/S-SES-2", "s1/S-SES-3")
@pytest.mark.parametrize(
    "meta", ['{"mode": "ignored"}', '{"mode": "read-only"}', '{"retained": false}', "{ broken"]
)
def test_who_asked_to_be_left_alone_still_is(mem, kept, plugin, meta):
    session = kept("a", OLD)
    (plugin / f"session-meta/{session.key}.json").write_text(meta)
    assert adopted(mem)["session modes"]["adopted"] == 1
    assert adopted(mem)["session modes"]["known"] == 1
    mem("import", "sessions", "pi")
    assert facts(mem) == []


def review(document: str, *, days: float, **more: Any) -> dict[str, Any]:
    then = datetime.now(UTC) - timedelta(days=days)
    return {
        "ev": "add", "docId": document, "bank": "shop", "baseUrl": "http://localhost:8888",
        "project": str(Path.cwd()), "reason": "compact", "language": "en",
        "ts": then.isoformat(), **more,
    }  # fmt: skip


@pytest.mark.spec("pi/Q-04", "pi/Q-05")
def test_reviews_that_wait_wait_here(mem, kept, plugin):
    home = Path(os.environ["HOME"]) / ".pi/hindsight"
    home.mkdir(parents=True)
    put(
        home / "review-queue.jsonl",
        review("d1", days=1), review("d2", days=1), review("d3", days=30), "garbage\n",
        {"ev": "done", "docId": "d2", "action": "approved", "ts": "2026-01-01T00:00:00Z"},
    )  # fmt: skip
    assert adopted(mem)["reviews that wait"]["adopted"] == 1
    assert adopted(mem)["reviews that wait"]["known"] == 1
    [row] = mem("review", "list", "--json").data["items"]
    assert row["document"] == "d1"


@pytest.mark.spec("s1/S-Q-8")
def test_receipts_are_receipts(mem, kept, plugin):
    listed = [{"bankId": "shop", "documentId": "pi-session:1", "createdAt": "2026-01-02T00:00:00Z"}]
    (plugin / "retain-receipts.json").write_text(json.dumps({"version": 1, "receipts": listed}))
    assert adopted(mem)["receipts"]["adopted"] == 1
    assert adopted(mem)["receipts"]["known"] == 1


def test_where_nothing_is_nothing_happens(mem):
    said = mem("import", "state")
    assert said.code == 0
    assert "nothing of the plugins' state" in said.out


def memory(text: str, *, project: str | None, **more: Any) -> dict[str, Any]:
    scope = "project" if project else "global"
    record = {
        "id": "u-1", "text": text, "kind": "user_profile", "scope": scope, "projectId": project,
        "confidence": 0.8, "decayRate": 0.1, "priority": 0.55, "status": "active",
        "source": {
            "actor": "assistant", "sessionId": "old", "cwd": "/srv/shop", "cause": "a question",
            "reason": "it was asked twice", "evidence": "the exact words",
        },
        "feedback": {"useful": 2, "unhelpful": 1, "history": []},
        "createdAt": "2026-01-02T00:00:00Z", "updatedAt": "2026-01-05T00:00:00Z",
        "embeddingModel": "x", "schemaVersion": 2,
    }  # fmt: skip
    return {"record": {**record, **more}, "vector": [0.1, 0.2]}


@pytest.mark.spec("am/A-REC-1", "am/A-REC-5")
def test_active_memories_keep_what_they_have_earned(mem, kept, plugin):
    here = memory_project(load(cwd=Path.cwd(), env=os.environ).project)
    folder = Path(os.environ["HOME"]) / ".pi/agent/active-memory"
    folder.mkdir(parents=True)
    rows = [
        memory("The gateway uses port 8443.", project=here),
        memory("Ann prefers short answers.", project=None),
        memory("The gateway used port 7443.", project=here, status="superseded"),
        memory("The gateway is slow.", project=here, status="deleted"),
        memory("Another project's fact.", project="f" * 20),
        {"record": {"text": " "}},
    ]
    (folder / "vectors.json").write_text(json.dumps({"version": 1, "dimension": 2, "rows": rows}))

    first = adopted(mem, code=1)["active memories"]

    assert first["adopted"] == 4
    assert "row 6" in first["left"][0]
    assert "/srv/shop" in first["left"][1]
    assert facts(mem) == ["Ann prefers short answers.", "The gateway uses port 8443."]
    states = mem("facts", "list", "--json", "--state", "all").data["facts"]
    assert sorted(fact["state"] for fact in states) == [
        "invalidated", "superseded", "valid", "valid",
    ]  # fmt: skip
    again = adopted(mem, code=1)["active memories"]
    assert (again["adopted"], again["known"]) == (0, 4)
    with sqlite3.connect(Path(os.environ["HINDSIGHT_MEM_HOME"]) / "state.db") as state:
        records = [json.loads(row[0]) for row in state.execute("SELECT body FROM lives")]
    state.close()
    mine = next(record for record in records if record["told"].get("cwd") == "/srv/shop")
    assert (mine["confidence"], mine["decay_rate"], mine["priority"]) == (0.8, 0.1, 0.55)
    assert (mine["useful"], mine["unhelpful"]) == (2, 1)
    assert mine["told"]["evidence"] == "the exact words"


@pytest.mark.spec("pi/M-21", "pi/M-22")
def test_documents_of_a_session_are_those_that_a_new_one_replaces(mem, kept, plugin, monkeypatch):
    session = kept("a", OLD, STUDIED, NEW)
    session.state(watermark=session.ids[3])
    lines = [
        {"docId": "pi-1", "sessionId": "a", "firstId": session.ids[0], "lastId": session.ids[1]},
        {"docId": "pi-2", "sessionId": "a", "firstId": "silent", "lastId": session.ids[3]},
        {"docId": "pi-3", "sessionId": "gone", "firstId": "x", "lastId": "y"},
    ]
    put(plugin / "dispatch-log.jsonl", *lines, "garbage\n")
    # In another bank there are no such documents.
    assert adopted(mem)["documents of sessions"]["adopted"] == 0

    monkeypatch.setenv("HINDSIGHT_MEM_BANK__BACKEND", "hindsight")
    monkeypatch.setenv("HINDSIGHT_MEM_HINDSIGHT__BASE_URL", "http://127.0.0.1:9")
    other = ("--bank", "there")
    assert adopted(mem, *other)["documents of sessions"]["adopted"] == 2
    assert adopted(mem, *other)["documents of sessions"]["known"] == 2

    with sqlite3.connect(Path(os.environ["HINDSIGHT_MEM_HOME"]) / "queue.db") as queue:
        ended = queue.execute(
            "SELECT last_entry_id, document_id FROM windows WHERE bank = 'there'"
            " AND session_id = 'a' ORDER BY seq"
        ).fetchall()
        inside = queue.execute(
            "SELECT count(*) FROM covered WHERE bank = 'there' AND document_id = 'pi-2'"
        ).fetchone()
    queue.close()
    assert ended == [(session.ids[1], "pi-1"), (session.ids[3], "pi-2")]
    assert inside == (2,)
