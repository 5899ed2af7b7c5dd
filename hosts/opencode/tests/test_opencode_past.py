"""opencode's kept sessions: its database, and the files of older versions."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hindsight_host_opencode import host
from hindsight_host_opencode.options import options_in

from hindsight_core.errors import TranscriptError
from hindsight_core.transcript.past import PastSessionsHost

# As opencode 1.18 makes them, without the columns that nobody reads.
TABLES = """
CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT NOT NULL, revert TEXT,
                      time_updated INTEGER NOT NULL);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, data TEXT NOT NULL);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL,
                   data TEXT NOT NULL);
"""
WHEN = 1_796_023_857_110


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path)}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / ".local/share/opencode"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def database(data: Path):
    """Puts a session into opencode's database."""
    connection = sqlite3.connect(data / "opencode.db")
    connection.executescript(TABLES)

    def put(own: str, *said: tuple[str, str, str], parent: str | None = None, **more: Any) -> None:
        undone = json.dumps(more["revert"]) if "revert" in more else None
        connection.execute(
            "INSERT INTO session VALUES (?, ?, '/srv/shop', ?, ?)", (own, parent, undone, WHEN)
        )
        for number, (role, agent, text) in enumerate(said):
            message = {"role": role, "agent": agent, "time": {"created": WHEN + number}}
            key = f"msg_{own}_{number}"
            connection.execute(
                "INSERT INTO message VALUES (?, ?, ?)", (key, own, json.dumps(message))
            )
            part = json.dumps({"type": "text", "text": text})
            connection.execute(
                "INSERT INTO part VALUES (?, ?, ?, ?)", (f"prt_{key}", key, own, part)
            )
        connection.commit()

    yield put
    connection.close()


def past(env: dict[str, str]):
    assert isinstance(host, PastSessionsHost)
    return list(host.past_sessions(env))


def texts(session, agents=None) -> list[str]:
    return [entry.text for entry in session.read(agents).entries]


TALK = (
    ("user", "build", "Which port?"),
    ("assistant", "build", "8443."),
    ("user", "plan", "And the plan?"),
    ("assistant", "plan", "Two steps."),
)


def test_the_database(env, database):
    database("s1", *TALK)
    database("s2", ("user", "build", "A sub-agent's task."), parent="s1")

    first, second = past(env)

    assert (first.session_id, first.cwd, first.child) == ("s1", "/srv/shop", False)
    assert first.agents == ("build", "plan")
    assert second.child
    entries = first.read(None).entries
    assert [entry.id for entry in entries] == [f"msg_s1_{n}" for n in range(4)]
    assert [entry.parent_id for entry in entries] == [None, "msg_s1_0", "msg_s1_1", "msg_s1_2"]
    assert entries[0].timestamp is not None
    assert texts(first, frozenset({"plan"})) == ["And the plan?", "Two steps."]


def test_what_the_person_has_undone_is_not_said(env, database):
    database("s1", *TALK, revert={"messageID": "msg_s1_2"})
    assert texts(past(env)[0]) == ["Which port?", "8443."]


def test_files_of_an_older_version(env, data, database):
    def put(path: str, value: object) -> None:
        (data / "storage" / path).parent.mkdir(parents=True, exist_ok=True)
        (data / "storage" / path).write_text(json.dumps(value))

    info = {"id": "s0", "directory": "/srv/old", "time": {"updated": WHEN}}
    put("session/p/s0.json", info)
    put("session/p/s1.json", {**info, "id": "s1"})
    message = {"id": "m1", "sessionID": "s0", "role": "user", "mode": "build"}
    put("message/s0/m1.json", message)
    put("part/m1/p1.json", {"id": "p1", "type": "text", "text": "Which port?"})
    database("s1", *TALK)

    moved, kept = past(env)

    # One that the newer version took over is there once.
    assert (moved.session_id, len(texts(moved))) == ("s1", 4)
    assert (kept.session_id, kept.cwd, kept.agents) == ("s0", "/srv/old", ("build",))
    assert texts(kept) == ["Which port?"]


def test_a_database_of_another_layout_costs_nothing(env, data):
    connection = sqlite3.connect(data / "opencode.db")
    connection.execute("CREATE TABLE other (id TEXT)")
    connection.close()
    (data / "opencode-broken.db").write_bytes(b"no database")
    assert past(env) == []


def test_a_database_that_is_gone_when_it_is_read(env, data, database):
    database("s1", *TALK)
    [session] = past(env)
    (data / "opencode.db").unlink()
    with pytest.raises(TranscriptError, match="s1 cannot be read"):
        session.read(None)


def test_the_users_options_are_those_of_the_running_plugin(tmp_path):
    (tmp_path / "opencode.jsonc").write_text(
        """{
          // mine
          "plugin": ["other", ["/home/u/shims/opencode/index.js", {"tags": ["a"]}]],
          "plugins": [],
          "agent": {"build": {"options": {"hindsight": {"bankId": "one"}}}, "plan": {}}
        }"""
    )
    # A name with hindsight in it is a plugin of memory, ours or an original one.
    assert options_in(tmp_path) == {"agents": {"build": {"bankId": "one"}}}
    (tmp_path / "opencode.jsonc").write_text(
        '{"plugin": [["/u/hindsight/shims/opencode/index.js", {"tags": ["a"]}]]}'
    )
    assert options_in(tmp_path) == {"tags": ["a"]}
    (tmp_path / "opencode.jsonc").write_text(
        '{"plugin": [["opencode-hindsight", {"debug": true}]]}'
    )
    assert options_in(tmp_path) == {"profile": "opencode-hindsight", "debug": True}
    (tmp_path / "opencode.jsonc").write_text("{ broken")
    assert options_in(tmp_path) == {}
