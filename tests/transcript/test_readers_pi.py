"""Session files of pi: a real one, and records that it does not hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hindsight_core.redact import Redactor
from hindsight_core.testing.transcripts import TranscriptBuilder
from hindsight_core.transcript.entry import Image, Text, Thinking, ToolCall, ToolResult
from hindsight_core.transcript.projections import memorize_blocks, recall_context
from hindsight_core.transcript.readers import read_transcript
from hindsight_core.transcript.sanitise import Sanitiser
from hindsight_core.transcript.windows import join

SESSION = Path(__file__).parent / "data" / "pi-session.jsonl"


def write(path: Path, *records: object) -> Path:
    header = {"type": "session", "version": 3, "id": "s1", "cwd": "/srv/shop"}
    path.write_text("".join(json.dumps(r) + "\n" for r in (header, *records)))
    return path


def message(entry_id: str, parent: str | None, role: str, content: object, **more: object) -> dict:
    inner = {"role": role, "content": content, **more}
    stamp = "2030-01-15T10:00:00.000Z"
    return {
        "type": "message",
        "id": entry_id,
        "parentId": parent,
        "timestamp": stamp,
        "message": inner,
    }


@pytest.mark.spec("pi/D-25", "pi/X-01", "br/BR-02", "br/BR-38")
def test_a_real_session_gives_what_was_said_and_done() -> None:
    found = read_transcript(SESSION)
    assert (found.host, found.cwd, found.unknown) == ("pi", "/srv/code/checkout", 0)
    assert found.session_id == json.loads(SESSION.read_text().split("\n")[0])["id"]
    entries = Sanitiser(Redactor()).entries(found.entries)
    # Neither the abandoned plan (redis), nor the recalled block (valkey), nor the summary.
    assert join(memorize_blocks(entries)).split("\n\n") == [
        "USER: We keep sqlite as the store, never Postgres.",
        "ASSISTANT: Understood: SQLite stays the store, because the installer must not need a "
        "server.",
        "USER: which port does checkout use?",
        "ASSISTANT: $ echo listening on 7443",
        "OUTPUT(ok): listening on 7443",
        "ASSISTANT: The checkout service listens on port 7443.",
        "USER: What is the latency budget? It must stay under 80 ms.",
        next(f"ASSISTANT: {e.text}" for e in entries if e.text.startswith("stub:")),
        "USER: limit every retry to 3 attempts in retry.py",
        "ASSISTANT: [edited retry.py]",
        "[write → ok]",
        "ASSISTANT: retry.py now limits retries to 3.",
    ]


@pytest.mark.spec("pi/X-10")
def test_recall_of_a_real_session_starts_at_its_compaction() -> None:
    entries = Sanitiser(Redactor()).entries(read_transcript(SESSION).entries)
    assert recall_context(entries, 20_000) == (
        "user: limit every retry to 3 attempts in retry.py\n\n"
        "assistant: [tool write: retry.py]\n\n"
        "assistant: retry.py now limits retries to 3."
    )


def test_a_built_session_is_read_as_it_was_built(tmp_path: Path) -> None:
    talk = TranscriptBuilder("s9")
    talk.user("one")
    talk.assistant("two", thinking="hm", calls=[talk.call("bash", command="ls")])
    talk.result("out", is_error=True)
    talk.record("note")
    talk.compact("summary")
    talk.user("three")
    path = talk.write_pi(tmp_path / "s.jsonl")
    found = read_transcript(path)
    assert (found.session_id, found.host, found.entries) == ("s9", "pi", talk.path)
    assert read_transcript(path, host="omp").host == "omp"


@pytest.mark.spec("pi/D-05", "br/BR-26")
def test_every_kind_of_part_and_message(tmp_path: Path) -> None:
    path = write(
        tmp_path / "s.jsonl",
        message("a", None, "user", [
            {"type": "text", "text": "see"}, {"type": "image", "data": "QQ"}
        ]),
        message("b", "a", "assistant", [
            {"type": "thinking", "thinking": "hm", "thinkingSignature": "sig"},
            {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "ls"}},
        ]),
        message("c", "b", "toolResult", [{"type": "text", "text": "out"}], toolCallId="c1",
                toolName="bash", isError=True),
        message("d", "c", "bashExecution", None, command="make", output="ok", exitCode=2),
        message("e", "d", "compactionSummary", None, summary="so far"),
        message("f", "e", "custom", "block", customType="memory"),
        message("g", "f", "hologram", "?"),
        {"type": "label", "id": "h", "parentId": "g", "targetId": "a", "label": "x"},
        {"type": "brand_new", "id": "i", "parentId": "h"},
        message("j", "i", "user", "plain"),
    )  # fmt: skip
    found = read_transcript(path)
    assert [e.id for e in found.entries] == ["a", "b", "c", "d", "e", "f", "j"]
    by_id = {e.id: e for e in found.entries}
    assert by_id["a"].parts == (Text("see"), Image())
    assert by_id["b"].parts == (Thinking("hm"), ToolCall("c1", "bash", {"command": "ls"}))
    assert by_id["c"].parts == (ToolResult("c1", "bash", "out", is_error=True),)
    assert by_id["d"].role == "tool"
    assert by_id["d"].parts == (ToolResult("", "bash", "$ make\nok", is_error=True),)
    assert (by_id["e"].role, by_id["e"].compaction) == ("host", True)
    assert (by_id["f"].role, by_id["f"].synthetic) == ("host", True)
    assert by_id["j"].parent_id == "f"
    assert found.unknown == 2


def test_a_leaf_that_says_nothing_still_names_the_branch(tmp_path: Path) -> None:
    path = write(
        tmp_path / "s.jsonl",
        message("a", None, "user", "one"),
        message("b", "a", "user", "abandoned"),
        {"type": "custom", "id": "c", "parentId": "a", "customType": "note", "data": {}},
    )
    assert [e.id for e in read_transcript(path).entries] == ["a"]


def test_a_file_whose_header_was_lost_is_still_known(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(SESSION.read_text().split("\n", 1)[1])
    found = read_transcript(path)
    assert (found.host, found.cwd) == ("pi", None)
    assert found.entries == read_transcript(SESSION).entries
    assert found.session_id.startswith("file-")


def test_a_session_without_messages_is_empty(tmp_path: Path) -> None:
    assert read_transcript(write(tmp_path / "s.jsonl")).entries == ()


def test_the_last_record_may_be_cut_anywhere(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    data = SESSION.read_bytes().rstrip()
    last = data.rindex(b"\n") + 1
    whole = read_transcript(SESSION).entries
    for end in range(last, len(data) - 1, 37):
        path.write_bytes(data[:end])
        assert read_transcript(path).entries == whole[:-1]


def test_omp_writes_its_title_before_the_header(tmp_path):
    lines = [
        {"type": "title", "v": 1, "title": "", "pad": "  "},
        {"type": "session", "version": 3, "id": "s-1", "cwd": "/srv/shop"},
        {
            "type": "message",
            "id": "a",
            "parentId": None,
            "message": {"role": "user", "content": "x"},
        },
    ]
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    transcript = read_transcript(path)
    assert (transcript.session_id, transcript.cwd, transcript.unknown) == ("s-1", "/srv/shop", 0)
    assert [entry.id for entry in transcript.entries] == ["a"]
