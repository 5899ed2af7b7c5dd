"""Transcript files: told apart by content, read within bounds, and never a traceback."""

from __future__ import annotations

import json
import os
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hindsight_core.errors import TranscriptError
from hindsight_core.testing.transcripts import TranscriptBuilder
from hindsight_core.transcript.entry import Text, ToolResult, Transcript
from hindsight_core.transcript.path import active_path
from hindsight_core.transcript.readers import read_transcript
from hindsight_core.transcript.readers.base import Collector
from hindsight_core.transcript.readers.canonical import CanonicalReader

SETTINGS = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def texts(transcript: Transcript) -> list[str]:
    return [entry.text for entry in transcript.entries]


@pytest.fixture
def talk() -> TranscriptBuilder:
    talk = TranscriptBuilder("sess-7", host="generic", cwd="/srv/shop")
    talk.user("we keep SQLite")
    talk.assistant("Noted.", calls=[talk.call("bash", command="ls")])
    talk.result("a b")
    return talk


def test_canonical_lines_with_a_header(talk: TranscriptBuilder, tmp_path: Path) -> None:
    found = read_transcript(talk.write_canonical(tmp_path / "s.jsonl"))
    assert (found.session_id, found.host, found.cwd) == ("sess-7", "generic", "/srv/shop")
    assert found.entries == talk.path


@pytest.mark.parametrize(
    "form", [lambda w: json.dumps(w, indent=1), lambda w: json.dumps({"messages": w})]
)
def test_one_json_value_with_all_entries(form, talk: TranscriptBuilder, tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text(form(talk.wire()))
    assert read_transcript(path).entries == talk.path


@pytest.mark.spec("pi/D-25")
def test_an_abandoned_branch_of_a_file_is_not_read(talk: TranscriptBuilder, tmp_path: Path) -> None:
    talk.branch("e02")
    talk.user("instead")
    for path in (talk.write_canonical(tmp_path / "a"), talk.write_pi(tmp_path / "b")):
        assert [e.id for e in read_transcript(path).entries] == ["e01", "e02", "e04"]


def test_without_a_header_the_session_id_comes_from_the_content(tmp_path: Path) -> None:
    def write(name: str, count: int, first: str = "hi") -> str:
        entries = [{"id": f"e{n}", "role": "user", "content": first} for n in range(count)]
        path = tmp_path / name
        path.write_text("".join(json.dumps(e) + "\n" for e in entries))
        return read_transcript(path).session_id

    assert write("a.jsonl", 5) == write("moved.jsonl", 9)
    assert write("a.jsonl", 5) != write("b.jsonl", 5, "other")


@pytest.mark.spec("br/BR-26")
def test_unknown_records_are_counted_and_too_many_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    known, strange = '{"role": "user", "content": "hi"}\n', '{"kind": "brand-new"}\n'
    path.write_text(known * 2 + strange + "no json\n")
    found = read_transcript(path)
    assert (len(found.entries), found.unknown) == (2, 2)
    path.write_text(known * 2 + strange * 3)
    with pytest.raises(TranscriptError, match=r"s\.jsonl: 3 of 5 records"):
        read_transcript(path)


@pytest.mark.spec("br/BR-46")
def test_broken_bytes_cost_nothing_but_themselves(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    good = b'{"role": "user", "content": "after the damage"}\n'
    path.write_bytes(b'{"role": "user", "content": "pric\xe2\x82 is \xff 5"}\n' + good)
    found = read_transcript(path)
    assert texts(found) == ["pric\ufffd is \ufffd 5", "after the damage"]
    assert (found.unknown, found.repaired) == (0, 1)


def test_a_last_line_that_is_still_being_written_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text('{"role": "user", "content": "one"}\n{"role": "user", "con')
    found = read_transcript(path)
    assert (texts(found), found.unknown) == (["one"], 0)
    path.write_text('{"role": "user", "content": "one"}\n{"role": "user", "content": "two"}')
    assert texts(read_transcript(path)) == ["one", "two"]


def test_line_ends_inside_text_do_not_end_a_record(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes('\ufeff{"role": "user", "content": "a\u2028b\u0085c"}\r\n'.encode())
    assert texts(read_transcript(path)) == ["a\u2028b\u0085c"]


# -- what cannot be read ----------------------------------------------------------------------


def unreadable(path: Path) -> Path:
    path.write_text("secret")
    path.chmod(0)
    return path


def fifo(path: Path) -> Path:
    os.mkfifo(path)
    return path


def folder(path: Path) -> Path:
    path.mkdir()
    return path


def written(data: bytes):
    def write(path: Path) -> Path:
        path.write_bytes(data)
        return path

    return write


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda path: path, "does not exist. Check the path"),
        (folder, "is a folder. Name the session files"),
        (fifo, "is not a regular file"),
        (written(b""), "is empty"),
        (written(b" \n\n"), "is empty"),
        (written(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)) * 8), "is not text"),
        (written(b"SQLite format 3\0" + b"\x01\x02" * 100), "is not text"),
        (written(b"\x1f\x8b\x08" + bytes(range(128, 256)) * 4), "is not text"),
        (written("plain".encode("utf-16")), "is UTF-16. Convert it"),
        (written(b'{"a": 1}\n{"b": 2}\n'), "records are not known"),
        (written(b'{"role": "user", "content": '), "records are not known"),
        (written(b"[" * 30_000), "records are not known"),
    ],
    ids=["missing", "folder", "fifo", "empty", "blank", "png", "sqlite", "gzip", "utf-16",
         "foreign", "one broken line", "bottomless"],
)  # fmt: skip
def test_an_error_names_the_file_and_what_to_do(make, says: str, tmp_path: Path) -> None:
    path = make(tmp_path / "the-file")
    with pytest.raises(TranscriptError) as error:
        read_transcript(path)
    assert "the-file" in str(error.value) and says in str(error.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(TranscriptError, match="cannot be read"):
        read_transcript(unreadable(tmp_path / "s.jsonl"))


def test_an_unknown_host_names_the_known_ones(tmp_path: Path) -> None:
    path = written(b"hi")(tmp_path / "s")
    with pytest.raises(TranscriptError, match="no reader for transcripts of 'nano'"):
        read_transcript(path, host="nano")
    assert read_transcript(path, host="text").host == "text"


# -- readers of third parties -----------------------------------------------------------------


class Foreign:
    """A reader as a plugin would register it."""

    name = "foreign"

    def accepts(self, path: Path, head: str) -> bool:
        return head.startswith("FOREIGN")

    def read(self, path: Path) -> Transcript:
        return Transcript("f1", "", ())


class Broken(Foreign):
    """A reader with faults."""

    name = "broken"

    def accepts(self, path: Path, head: str) -> bool:
        raise RuntimeError("sniff")

    def read(self, path: Path) -> Transcript:
        raise RuntimeError("boom")


def test_importers_are_asked_first_and_a_broken_one_is_passed_over(tmp_path: Path) -> None:
    path = written(b"FOREIGN 1\n")(tmp_path / "s")
    found = read_transcript(path, importers=[Broken(), Foreign()])
    assert (found.session_id, found.host) == ("f1", "foreign")
    with pytest.raises(TranscriptError, match="the reader 'broken' failed"):
        read_transcript(path, host="broken", importers=[Broken()])


# -- size -------------------------------------------------------------------------------------


@pytest.mark.spec("br/BR-73")
def test_a_large_file_is_streamed_and_its_end_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "big.jsonl"
    noise = {"role": "tool", "content": [{"type": "tool_result", "content": "x " * 400_000}]}
    line = json.dumps(noise) + "\n"
    with path.open("w") as target:
        target.write('{"role": "user", "content": "we keep SQLite"}\n')
        for _ in range(80):
            target.write(line)
        target.write('{"role": "user", "content": "the new region is eu-north-1"}\n')
    assert path.stat().st_size > 60_000_000
    tracemalloc.start()
    found = read_transcript(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60_000_000
    assert found.entries[0].text == "we keep SQLite"
    assert found.entries[-1].text == "the new region is eu-north-1"
    (result,) = found.entries[1].parts
    assert isinstance(result, ToolResult) and "characters cut" in result.text


@pytest.mark.spec("br/BR-73")
def test_only_the_tail_of_a_file_is_read_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    lines = [
        json.dumps({"role": "user", "content": f"ä{n}"}, ensure_ascii=False) for n in range(99)
    ]
    path.write_text("\n".join(lines) + "\n")
    for size in range(100, 140):  # also from the middle of a character
        found = CanonicalReader().read(path, tail_bytes=size)
        assert found.entries[-1].text == "ä98"
        assert 1 < len(found.entries) < 5 and found.repaired == 0


@pytest.mark.spec("br/BR-73")
def test_the_oldest_entries_go_when_there_are_too_many() -> None:
    talk = TranscriptBuilder()
    collector = Collector(max_bytes=6_000, max_entries=10)
    for number in range(12):
        collector.add(talk.user(f"text {number}"))
    assert (len(collector), collector.skipped) == (10, 2)
    collector.add(talk.user("x" * 5_500))
    assert [e.text[:4] for e in collector][-1] == "xxxx" and len(collector) < 4
    assert collector.skipped + len(collector) == 13


@pytest.mark.spec("br/BR-73")
def test_what_was_said_outlives_long_tool_results_and_silent_entries() -> None:
    talk = TranscriptBuilder()
    collector = Collector(max_bytes=40_000, max_entries=60)
    for number in range(10):
        collector.add(talk.user(f"rule {number}"))
        collector.add(talk.assistant(f"noted {number}", thinking="t" * 3_000))
        for _ in range(10):
            call = talk.call("write", text="a" * 3_000)
            collector.add(talk.assistant(calls=[call]))
            collector.add(talk.result("r" * 7_000))
    kept = list(collector)
    said = [entry.text for entry in kept if entry.text]
    assert said == [text for n in range(10) for text in (f"rule {n}", f"noted {n}")]
    assert collector.skipped == 220 - len(kept) and len(kept) <= 60
    assert active_path(kept) == tuple(kept)
    assert all(entry.parent_id != entry.id for entry in kept)


@pytest.mark.spec("br/BR-73")
def test_a_branch_is_still_one_when_entries_between_are_let_go() -> None:
    talk = TranscriptBuilder()
    first = talk.user("start")
    between = talk.result("r" * 400)
    lost = talk.user("abandoned")
    kept = replace(talk.user("kept"), parent_id=between.id)
    collector = Collector(max_entries=3)
    for entry in (first, between, lost, kept):
        collector.add(entry)
    assert [entry.text for entry in active_path(list(collector))] == ["start", "kept"]


RECORDS = st.sampled_from(
    ['{"role": "user", "content": "hi"}', '{"type": "session", "version": 3, "id": "s"}', "[", "{",
     '{"type": "message", "id": "a", "parentId": "b", "message": {"role": "user"}}', "User: hi",
     '{"type": "message", "message": {"role": "user", "content": [1, null, {"type": "text"}]}}',
     '{"type": "compaction", "summary": 5}', '{"role": 3, "parts": {}}', "\ufeff", "\0",
     '{"session": {}}']
)  # fmt: skip


@SETTINGS
@given(st.lists(RECORDS | st.text(max_size=20), max_size=8), st.binary(max_size=8))
def test_any_file_is_a_transcript_or_a_transcript_error(
    tmp_path: Path, lines: list[str], tail: bytes
) -> None:
    path = tmp_path / "any"
    path.write_bytes("\n".join(lines).encode("utf-8", "surrogatepass") + tail)
    try:
        found = read_transcript(path)
    except TranscriptError as error:
        assert str(path) in str(error)
    else:
        assert found.session_id and found.host
        assert found.entries == read_transcript(path).entries


def test_an_id_given_twice_is_no_loop(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    record = {"id": "a", "parentId": "a", "role": "user", "content": "x"}
    path.write_text(f"{json.dumps(record)}\n" * 3)
    assert {e.id for e in read_transcript(path).entries} == {"a"}
    assert read_transcript(path).entries[0].parts == (Text("x"),)
