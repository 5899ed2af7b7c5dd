"""Transcript files of the real programs, and files that no program should have written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hindsight_host_generic.transcripts import DIALECTS
from hindsight_host_generic.transcripts.base import Whole
from hindsight_host_generic.transcripts.follow import Follower, Reach

from hindsight_core.transcript.entry import Entry, ToolCall, ToolResult

DATA = Path(__file__).parent / "data"


def follow(file: Path, dialect: str = "claude-code", **kwargs) -> Follower:
    return Follower(DIALECTS[dialect], {}, **kwargs)


def spoken(entries) -> list[tuple[str, str]]:
    return [(e.role, e.text) for e in entries if e.role in ("user", "assistant") and e.text]


@pytest.mark.parametrize(
    ("name", "call"),
    [("claude-code", "Bash"), ("codex", "exec_command"), ("gemini", "run_shell_command")],
)
@pytest.mark.spec("br/BR-26", "br/BR-68")
def test_a_real_session_is_what_was_said_and_done(name, call):
    follower = follow(DATA, name)
    news = follower.update(str(DATA / f"{name}.jsonl"))

    said = spoken(news.entries)
    assert [role for role, _ in said] == ["user", "assistant"]
    assert said[0][1].startswith("Please list")
    assert said[1][1].startswith("STUB-REPLY")
    parts = [part for entry in news.entries for part in entry.parts]
    assert [part.name for part in parts if isinstance(part, ToolCall)] == [call]
    results = [e for e in news.entries if any(isinstance(p, ToolResult) for p in e.parts)]
    assert [e.role for e in results] == ["tool"]
    assert "hello" in results[0].parts[0].text
    assert follower.unknown == 0
    assert all(entry.timestamp is not None for entry in news.entries)


@pytest.mark.parametrize("name", ["claude-code", "codex", "gemini"])
def test_the_programs_own_words_are_not_the_persons(name):
    news = follow(DATA, name).update(str(DATA / f"{name}.jsonl"))
    user = "\n".join(text for role, text in spoken(news.entries) if role == "user")
    for machine in ("environment_context", "session_context", "skill", "MEM-", "hook_context"):
        assert machine not in user


@pytest.mark.spec("br/BR-38")
def test_a_real_compaction_is_an_entry_and_its_summary_the_programs(tmp_path):
    news = follow(DATA).update(str(DATA / "claude-code-compacted.jsonl"))
    roles = {e.text[:20]: e.role for e in news.entries if e.text}
    assert roles["This session is bein"] == "host"
    assert [e.compaction for e in news.entries].count(True) == 1
    words = [text for role, text in spoken(news.entries) if role == "user"]
    assert words[0] == "Remember that the port is 8443."
    assert words[-1] == "Go on then."
    assert not any("command" in text or "Continue from" in text for text in words)
    assert not any("No response" in text for _, text in spoken(news.entries))


def line(number: int, role: str = "user", parent: int | None = None, **more) -> str:
    record = {
        "type": role,
        "uuid": f"u{number}",
        "parentUuid": f"u{parent}" if parent is not None else None,
        "message": {"role": role, "content": f"words {number}"},
        **more,
    }
    return json.dumps(record) + "\n"


def test_only_what_is_new_is_read(tmp_path):
    file = tmp_path / "t.jsonl"
    file.write_text(line(1) + line(2, "assistant", 1))
    memo: dict = {}
    follower = Follower(DIALECTS["claude-code"], memo)
    first = follower.update(str(file))
    assert ([e.id for e in first.entries], first.since) == (["u1", "u2"], None)

    with file.open("a") as more:
        more.write(line(3, parent=2))
    second = follower.update(str(file))
    assert ([e.id for e in second.entries], second.since) == (["u3"], "u2")
    assert memo["offset"] == file.stat().st_size
    third = follower.update(str(file))
    assert (third.entries, third.since) == ((), "u3")
    assert follower.records == 3


def test_a_line_that_is_still_being_written_waits(tmp_path):
    file = tmp_path / "t.jsonl"
    half = line(2, parent=1)
    file.write_text(line(1) + half[:30])
    follower = follow(file)
    assert [e.id for e in follower.update(str(file)).entries] == ["u1"]
    with file.open("a") as more:
        more.write(half[30:])
    assert [e.id for e in follower.update(str(file)).entries] == ["u2"]
    assert follower.unknown == 0


def test_a_branch_that_was_left_is_not_on_the_path(tmp_path):
    file = tmp_path / "t.jsonl"
    file.write_text(line(1) + line(2, "assistant", 1) + line(3, parent=2))
    follower = follow(file)
    follower.update(str(file))
    with file.open("a") as more:
        more.write(line(4, parent=2))
    news = follower.update(str(file))
    assert ([e.id for e in news.entries], news.since) == (["u1", "u2", "u4"], None)
    assert not news.compacted


@pytest.mark.spec("br/BR-25")
def test_a_side_chain_is_not_the_sessions(tmp_path):
    file = tmp_path / "t.jsonl"
    file.write_text(line(1) + line(2, parent=1, isSidechain=True) + line(3, "assistant", 1))
    follower = follow(file)
    assert [e.id for e in follower.update(str(file)).entries] == ["u1", "u3"]
    assert follower.unknown == 0


@pytest.mark.spec("br/BR-40")
def test_a_file_that_shrank_is_a_compaction_without_a_word(tmp_path):
    file = tmp_path / "t.jsonl"
    file.write_text("".join(line(n, parent=n - 1 or None) for n in range(1, 7)))
    follower = follow(file)
    follower.update(str(file))
    file.write_text(line(7))
    news = follower.update(str(file))
    assert news.compacted
    assert ([e.id for e in news.entries], news.since) == (["u7"], None)


@pytest.mark.spec("br/BR-73")
def test_of_a_very_large_file_the_end_is_read(tmp_path):
    file = tmp_path / "t.jsonl"
    wide = {"message": {"role": "user", "content": "ö" * 4_000}}
    file.write_text("".join(line(n, **wide) for n in range(50)) + line(99, parent=49))
    follower = follow(file, reach=Reach(tail=30_001, unread=30_001))
    news = follower.update(str(file))
    assert news.skipped > 0
    assert news.entries[-1].id == "u99"
    assert len(news.entries) < 10
    assert follower.unknown == 0
    assert "\ufffd" not in news.entries[0].text
    assert follower.update(str(file)).skipped == 0


def test_what_an_earlier_process_had_read_is_not_said_to_be_skipped(tmp_path):
    file = tmp_path / "t.jsonl"
    file.write_text("".join(line(n) for n in range(200)))
    memo: dict = {}
    Follower(DIALECTS["claude-code"], memo).update(str(file))
    later = Follower(DIALECTS["claude-code"], memo, reach=Reach(tail=1_000, unread=9_000))
    assert later.update(str(file)).skipped == 0


def test_records_of_an_unknown_form_are_counted_and_cost_nothing_else(tmp_path):
    file = tmp_path / "t.jsonl"
    strange = ["{", "[1]", '"text"', '{"type": "of-tomorrow"}', "\ufffd\0", '{"a":' * 2_000]
    file.write_text(line(1) + "".join(text + "\n" for text in strange) + line(2, parent=1))
    memo: dict = {}
    follower = Follower(DIALECTS["claude-code"], memo)
    assert [e.id for e in follower.update(str(file)).entries] == ["u1", "u2"]
    assert follower.unknown == memo["unknown"] == len(strange)
    assert follower.records == memo["records"] == len(strange) + 2
    assert Follower(DIALECTS["claude-code"], memo).records == memo["records"]


def test_a_tool_result_of_any_size_is_bounded(tmp_path):
    file = tmp_path / "t.jsonl"
    content = [{"type": "tool_result", "tool_use_id": "t", "content": "x" * 1_000_000}]
    file.write_text(line(1, message={"role": "user", "content": content}))
    (entry,) = follow(file).update(str(file)).entries
    assert entry.role == "tool"
    assert len(entry.parts[0].text) <= 4_000


def test_gemini_writes_a_message_again_when_it_changes(tmp_path):
    file = tmp_path / "t.jsonl"
    call = {"id": "c", "name": "ls", "args": {}}
    records = [
        {"sessionId": "s", "startTime": "2026-01-01T00:00:00Z"},
        {"id": "1", "type": "user", "content": [{"text": "List."}]},
        {"id": "2", "type": "gemini", "content": ""},
        {"id": "2", "type": "gemini", "content": "", "toolCalls": [call]},
    ]
    file.write_text("".join(json.dumps(r) + "\n" for r in records))
    news = follow(file, "gemini").update(str(file))
    assert [(e.id, len(e.parts)) for e in news.entries] == [("1", 1), ("2", 1)]


def test_gemini_compresses_by_writing_the_whole_anew(tmp_path):
    file = tmp_path / "t.jsonl"
    old = [{"id": str(n), "type": "user", "content": [{"text": f"words {n}"}]} for n in range(3)]
    file.write_text("".join(json.dumps(r) + "\n" for r in old))
    follower = follow(file, "gemini")
    follower.update(str(file))
    state = {"id": "s", "type": "user", "content": [{"text": "<state_snapshot>so far"}]}
    with file.open("a") as more:
        more.write(json.dumps({"$set": {"messages": [state]}}) + "\n")
    news = follower.update(str(file))
    assert news.compacted
    assert [(e.id, e.role) for e in news.entries] == [("s", "host")]


def test_what_hooks_glued_to_a_prompt_is_not_said_by_the_person():
    record = {
        "id": "1",
        "type": "user",
        "content": [
            {"text": "<hook_context>&lt;hindsight-memory&gt;a</hook_context>\n\nWhich port?"},
            {"text": "<hook_context>&lt;hindsight-memory&gt;b</hook_context>"},
        ],
    }
    entry = DIALECTS["gemini"](record, None)
    assert isinstance(entry, Entry)
    assert entry.text == "Which port?"


@pytest.mark.spec("br/BR-20")
def test_codex_instructions_are_not_the_persons_words():
    def message(text, **more):
        content = [{"type": "input_text", "text": text}]
        payload = {"type": "message", "role": "user", "content": content, **more}
        return DIALECTS["codex"]({"type": "response_item", "payload": payload}, None)

    assert message("Which port?").role == "user"
    assert message("# AGENTS.md instructions for /p\n<INSTRUCTIONS>").role == "host"
    assert message("<environment_context>").role == "host"
    kinds = {"content_item_kinds": ["agents_md.instructions"]}
    passed = {"internal_chat_message_metadata_passthrough": kinds}
    assert message("Always use tabs.", **passed).role == "host"
    compacted = DIALECTS["codex"]({"type": "compacted", "payload": {"message": "So far"}}, "m1")
    assert (compacted.role, compacted.compaction, compacted.parent_id) == ("host", True, "m1")


def test_copilot_and_plain_lines():
    said = {"type": "user.message", "id": "e1", "data": {"content": "Which port?"}}
    assert DIALECTS["copilot"](said, None).text == "Which port?"
    assert DIALECTS["copilot"]({"type": "session.start", "data": {}}, None) == "silent"
    assert DIALECTS["copilot"]({"type": "new.thing"}, None) == "unknown"
    line = {"role": "assistant", "message": {"content": [{"type": "text", "text": "8443."}]}}
    entry = DIALECTS["plain"](line, "e1")
    assert (entry.role, entry.text, entry.parent_id) == ("assistant", "8443.", "e1")


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
@pytest.mark.parametrize(
    "record",
    [
        {},
        {"type": None},
        {"type": "user", "message": 3},
        {"type": "user", "message": {"content": {"a": [[[]]]}}},
        {"type": "response_item", "payload": {"type": "message", "content": 3}},
        {"type": "response_item", "payload": {"type": "function_call", "arguments": "{"}},
        {"type": "gemini", "content": [1, None], "toolCalls": [3, {"name": 7}], "thoughts": [0]},
        {"$set": {"messages": [None, 3, {"type": "user", "content": None}]}},
        {"type": "user.message", "data": None},
    ],
)
def test_no_record_breaks_a_dialect(dialect, record):
    said = dialect(record, None)
    assert said in ("silent", "unknown") or isinstance(said, Entry | Whole)
