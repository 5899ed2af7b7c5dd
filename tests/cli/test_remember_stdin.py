from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path

import pytest

from hindsight_core.transcript.readers import stream

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/session.jsonl"
HINT = 'echo "..." | hindsight-mem remember -'


class Screen(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def pipe(monkeypatch, tmp_path):
    """Put bytes into standard input; temporary files come to lie in a folder of the test."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))

    def put(raw: bytes) -> Path:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
        return scratch

    return put


def test_a_sentence_from_standard_input(mem, pipe):
    scratch = pipe(b"The queue prefetch is 20.\n")
    [result] = mem("remember", "-", "--json").data["files"]
    assert (result["file"], result["outcome"], result["host"]) == ("-", "stored", "text")
    assert [fact["text"] for fact in result["facts"]] == ["The queue prefetch is 20"]
    assert list(scratch.iterdir()) == []
    pipe(b"The queue prefetch is 20.\n")
    assert mem("remember", "-", "--json").data["files"][0]["facts"] == []


def test_a_session_from_standard_input_is_that_of_the_file(mem, pipe):
    pipe(EXAMPLE.read_bytes())
    first, second = mem("remember", "-", EXAMPLE, "--json").data["files"]
    assert first["outcome"] == "stored"
    assert (second["session"], second["facts"]) == (first["session"], [])


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b"", "standard input is empty"),
        (bytes(range(256)) * 40, "standard input is not text"),
        (b'{"kind": 1}\n{"kind": 2}\n{"kind": 3}\n', "standard input"),
    ],
)
def test_what_cannot_be_read_is_told_of_standard_input(mem, pipe, raw, told):
    scratch = pipe(raw)
    said = mem("remember", "-")
    assert said.code == 2
    assert said.err.startswith(f"hindsight-mem: {told}")
    assert str(scratch) not in said.err
    assert list(scratch.iterdir()) == []


def test_more_than_fits_is_refused(mem, pipe, monkeypatch):
    monkeypatch.setattr(stream, "MAX_BYTES", 1 << 20)
    scratch = pipe(b"a word " * (1 << 18))
    said = mem("remember", "-")
    assert said.code == 2
    assert "standard input holds over 1 MB" in said.err
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize("stdin", [Screen(), None])
def test_without_a_pipe_it_does_not_wait(mem, monkeypatch, stdin):
    monkeypatch.setattr(sys, "stdin", stdin)
    said = mem("remember", "-")
    assert said.code == 2
    assert "nothing is piped into standard input" in said.err
    assert said.err.endswith(f"{HINT}\n")


@pytest.mark.parametrize("sentence", ["some sentence", "a rule of ours " * 40, "either/or"])
def test_a_sentence_in_place_of_a_file_is_told_how_to_save_it(mem, sentence):
    said = mem("remember", sentence)
    assert said.code == 2
    assert said.err.endswith(f"{HINT}\n")


def test_a_file_that_is_there_needs_no_such_hint(mem, tmp_path):
    Path("empty.txt").touch()
    for there in ("empty.txt", tmp_path):
        said = mem("remember", there)
        assert (said.code, HINT in said.err) == (2, False)
