"""An editor is opened on a terminal; without one a command says what to give instead."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest


class Screen(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def editor(tmp_path, monkeypatch):
    """An editor that leaves a trace and writes another text."""
    program, trace = tmp_path / "editor", tmp_path / "opened"
    program.write_text(f'#!/bin/sh\ntouch "{trace}"\necho "The prefetch is 50." > "$1"\n')
    program.chmod(0o700)
    for name in ("VISUAL", "EDITOR"):
        monkeypatch.setenv(name, str(program))
    return trace


@pytest.fixture
def fact(mem):
    Path("note.txt").write_text("The prefetch is 20.")
    [kept] = mem("remember", "note.txt", "--json").data["files"][0]["facts"]
    return kept["id"]


@pytest.mark.parametrize("stdin", [io.StringIO("y\n"), None])
@pytest.mark.parametrize("group", ["facts", "review"])
def test_no_terminal_no_editor(mem, editor, fact, monkeypatch, group, stdin):
    wanted = fact if group == "facts" else 1
    monkeypatch.setattr(sys, "stdin", stdin)
    said = mem(group, "edit", wanted)
    assert (said.code, said.out) == (2, "")
    assert "no terminal to open an editor on: give the new text with --text" in said.err
    assert not editor.exists()


def test_on_a_terminal_the_editor_changes_the_fact(mem, editor, fact, monkeypatch):
    monkeypatch.setattr(sys, "stdin", Screen())
    assert mem("facts", "edit", fact).code == 0
    assert editor.exists()
    assert mem("facts", "show", fact, "--json").data["facts"][0]["text"] == "The prefetch is 50."


def test_tags_alone_need_no_editor(mem, editor, fact):
    assert mem("facts", "edit", fact, "--tag", "broker").code == 0
    assert not editor.exists()
