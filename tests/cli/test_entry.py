from __future__ import annotations

import subprocess
import sys

import pytest


def test_help_lists_every_command_and_imports_none(mem):
    from hindsight_core.cli.main import COMMANDS

    said = mem("--help")
    assert said.code == 0
    assert all(name in said.out for name in COMMANDS)


def test_an_unknown_command_is_a_usage_error(mem):
    said = mem("forget-everything")
    assert said.code == 2
    assert "No such command" in said.err


def test_a_wrong_option_is_a_usage_error(mem):
    assert mem("recall", "x", "--nope").code == 2


def test_a_search_for_nothing_is_a_usage_error(mem):
    said = mem("recall", "  ")
    assert said.code == 2
    assert "facts list" in said.err


def test_a_closed_pipe_is_no_traceback(mem):
    mem("remember", "--help")
    done = subprocess.run(
        f"{sys.executable} -m hindsight_core config show | head -1",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr


def test_a_folder_that_is_gone_is_named(mem, tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    said = mem("recall", "x")
    assert said.code == 2
    assert "current folder is gone" in said.err


def test_an_unexpected_error_is_one_line(mem, monkeypatch):
    from hindsight_core.cli.main import cli

    def broken(*args, **options):
        raise RuntimeError("one\ntwo")

    monkeypatch.setattr(cli, "main", broken)
    said = mem("recall", "x")
    assert (said.code, said.err.count("\n")) == (1, 1)
    assert "RuntimeError: one two" in said.err
    monkeypatch.setenv("HINDSIGHT_MEM_TRACE", "1")
    with pytest.raises(RuntimeError):
        mem("recall", "x")


def test_an_import_with_impossible_lines_keeps_the_others(mem, tmp_path):
    lines = [
        '{"text": "Redis holds sessions"}',
        '{"text": "old", "timestamp": "0001-01-01T00:00:00+14:00"}',
        "[" * 50_000,
        '{"text": "PostgreSQL holds bookings"}',
    ]
    file = tmp_path / "facts.jsonl"
    file.write_text("\n".join(lines))
    said = mem("bank", "import", file)
    assert said.code == 2
    assert "line 2" in said.err
    assert "line 3" in said.err
    assert mem("facts", "list", "--json").data["total"] == 2
