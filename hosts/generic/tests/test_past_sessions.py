"""Claude Code, Codex and Gemini CLI list their sessions, as the real programs wrote them."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest
from hindsight_host_generic.hosts import claude_code, codex, cursor, gemini
from hindsight_host_generic.transcripts import DIALECTS
from hindsight_host_generic.transcripts.follow import RESIDENT, Follower

from hindsight_core.errors import TranscriptError
from hindsight_core.testing.transcripts import TranscriptBuilder
from hindsight_core.transcript.past import PastSessionsHost
from hindsight_core.transcript.readers import read_transcript

DATA = Path(__file__).parent / "data"
ENDING = ".jsonl"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


def put(name: str, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(DATA / name, path)
    return path


def past(host, home: Path):
    assert isinstance(host, PastSessionsHost)
    return list(host.past_sessions({"HOME": str(home)}))


def test_claude_code(home):
    put("claude-code.jsonl", home / ".claude/projects/-srv-x/152e48b1.jsonl")
    [session] = past(claude_code, home)
    transcript = session.read(None)
    assert session.session_id == transcript.session_id == "152e48b1"
    assert session.cwd == transcript.cwd == "/home/dev/shop"
    assert not session.child
    assert any(entry.role == "user" and "Please list" in entry.text for entry in transcript.entries)
    assert all(entry.timestamp for entry in transcript.entries)


def test_claude_codes_sub_agents_are_children(home):
    path = home / ".claude/projects/-srv-x/agent-1.jsonl"
    path.parent.mkdir(parents=True)
    record = {"type": "user", "isSidechain": True, "uuid": "1", "parentUuid": None, "cwd": "/srv/x"}
    path.write_text(json.dumps({**record, "message": {"role": "user", "content": "look"}}) + "\n")
    assert [session.child for session in past(claude_code, home)] == [True]


def test_codex(home):
    put("codex.jsonl", home / ".codex/sessions/2026/11/30/rollout-1.jsonl")
    put("codex.jsonl", home / ".codex/archived_sessions/rollout-0.jsonl")
    sessions = past(codex, home)
    assert len(sessions) == 2
    assert {session.cwd for session in sessions} == {"/home/dev/shop"}
    assert {s.session_id for s in sessions} == {"01a22a5a-519c-7cc2-9aee-843ffbefee5e"}
    transcript = sessions[0].read(None)
    assert [e.role for e in transcript.entries if e.role == "user"]


def test_codexs_sub_agents_are_children(home):
    path = put("codex.jsonl", home / ".codex/sessions/2026/11/30/rollout-1.jsonl")
    first, *rest = path.read_text().splitlines()
    meta = json.loads(first)
    meta["payload"]["source"] = {"subagent": "review"}
    path.write_text("\n".join([json.dumps(meta), *rest]) + "\n")
    assert [session.child for session in past(codex, home)] == [True]


def gemini_digest() -> str:
    first = (DATA / "gemini.jsonl").read_text().splitlines()[0]
    return str(json.loads(first)["projectHash"])


def test_gemini_by_the_digest_of_a_folder_that_it_knows(home):
    put("gemini.jsonl", home / ".gemini/tmp/shop/chats/session-1.jsonl")
    assert [session.cwd for session in past(gemini, home)] == [None]

    folder = "/srv/real"
    path = home / ".gemini/tmp/shop/chats/session-1.jsonl"
    digest = hashlib.sha256(folder.encode()).hexdigest()
    path.write_text(path.read_text().replace(gemini_digest(), digest))
    # The folder of another project that has the same name here proves nothing.
    (home / ".gemini/tmp/shop/.project_root").write_text("/srv/other/shop")
    assert [session.cwd for session in past(gemini, home)] == [None]
    (home / ".gemini/projects.json").write_text(json.dumps({"projects": {folder: "shop"}}))
    [session] = past(gemini, home)
    assert session.cwd == folder
    assert any(entry.role == "user" for entry in session.read(None).entries)


def test_an_older_gemini_keeps_one_object(home):
    path = home / ".gemini/tmp/abc/chats/session-1.json"
    path.parent.mkdir(parents=True)
    said = [
        {"id": "1", "timestamp": "2025-09-01T10:00:00Z", "type": "user", "content": "Which port?"},
        {"id": "2", "timestamp": "2025-09-01T10:00:05Z", "type": "gemini", "content": "8443."},
    ]
    path.write_text(json.dumps({"sessionId": "g1", "projectHash": "x", "messages": said}))
    [session] = past(gemini, home)
    assert session.session_id == "g1"
    assert [entry.text for entry in session.read(None).entries] == ["Which port?", "8443."]


@pytest.mark.parametrize("name", ["claude-code", "claude-code-compacted", "codex", "gemini"])
def test_ids_are_those_of_the_session_while_it_ran(home, name):
    agent = name.replace("-compacted", "")
    places = {
        "claude-code": ".claude/projects/x/s.jsonl",
        "codex": ".codex/sessions/2026/01/01/rollout-s.jsonl",
        "gemini": ".gemini/tmp/x/chats/session-s.jsonl",
    }
    hosts = {"claude-code": claude_code, "codex": codex, "gemini": gemini}
    path = put(f"{name}.jsonl", home / places[agent])
    live = Follower(DIALECTS[agent], {}, reach=RESIDENT)
    news = live.update(str(path))
    [session] = past(hosts[agent], home)
    assert [e.id for e in session.read(None).entries] == [e.id for e in news.entries]


def test_a_file_of_an_unknown_form_is_no_empty_session(home):
    path = home / ".codex/sessions/2025/01/01/rollout-old.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text('{"kind": "something else"}\n' * 5)
    [session] = past(codex, home)
    with pytest.raises(TranscriptError, match="5 of 5 records"):
        session.read(None)


def test_an_agent_whose_sessions_we_do_not_read_has_none(home):
    assert past(cursor, home) == []
    assert past(claude_code, home) == []


@pytest.mark.parametrize(
    ("name", "agent", "session"),
    [
        ("claude-code.jsonl", "claude-code", "claude-code"),
        ("codex.jsonl", "codex", "01a22a5a-519c-7cc2-9aee-843ffbefee5e"),
        ("gemini.jsonl", "gemini", "1c863a37-1983-4a05-90e9-ef7f2f2a2d58"),
    ],
)
def test_a_single_file_is_read_in_its_own_form(name, agent, session):
    readers = [r for host in (claude_code, codex, gemini) for r in host.transcript_readers()]
    for given in (None, agent):
        transcript = read_transcript(DATA / name, host=given, importers=readers)
        assert (transcript.host, transcript.session_id) == (agent, session)
        assert any(entry.role == "user" for entry in transcript.entries)
    assert cursor.transcript_readers() == ()


def test_other_files_are_left_to_other_readers(tmp_path):
    readers = [r for host in (claude_code, codex, gemini) for r in host.transcript_readers()]
    talk = TranscriptBuilder("s1", host="pi", cwd="/srv/shop")
    talk.user("Which port?")
    for path in (talk.write_pi(tmp_path / "a"), talk.write_canonical(tmp_path / "b")):
        assert read_transcript(path, importers=readers).host == "pi"
    (tmp_path / "c").write_text("A note of mine.\n")
    assert read_transcript(tmp_path / "c", importers=readers).host == "text"
