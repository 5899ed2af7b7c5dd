"""``facts verify``, and what ``facts show`` and ``recall`` say of files that are gone."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from hindsight_core.identity import fact_id

PAY, TOX, BARE = "Payments are in src/pay.py", "Tests are run by tox.ini", "Nobody names a file"


@pytest.fixture
def filled(mem, tmp_path):
    Path("src").mkdir()
    Path("tox.ini").write_text("[tox]\n")
    lines = [{"text": text, "timestamp": "2026-01-02T10:00:00Z"} for text in (PAY, TOX, BARE)]
    file = tmp_path / "facts.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert mem("bank", "import", file).code == 0
    os.utime("tox.ini", (1_600_000_000, 1_600_000_000))
    return mem


def test_facts_whose_files_are_gone_are_listed(filled):
    data = filled("facts", "verify", "--json").data
    assert (data["total"], data["checked"], data["retired"]) == (1, 3, [])
    [row] = data["facts"]
    assert (row["id"], row["missing"]) == (f"shop:{fact_id(PAY)}", ["src/pay.py"])
    said = filled("facts", "verify")
    assert "src/pay.py is gone" in said.out
    assert "1 of 3 facts no longer fit" in said.out


def test_they_are_retired_on_request_and_restored(filled):
    asked = filled("facts", "verify", "--invalidate")
    assert (asked.code, "add --yes" in asked.err) == (2, True)
    filled("facts", "pin", fact_id(PAY))
    said = filled("facts", "verify", "--invalidate", "--yes", "--json")
    assert (said.data["retired"], "pinned" in said.err) == ([], True)
    filled("facts", "unpin", fact_id(PAY))
    assert len(filled("facts", "verify", "--invalidate", "--yes", "--json").data["retired"]) == 1
    [row] = filled("facts", "list", "--state", "invalidated", "--json").data["facts"]
    [shown] = filled("facts", "show", row["id"], "--json").data["facts"]
    assert shown["reason"] == "src/pay.py is gone"
    assert filled("facts", "verify", "--json").data["total"] == 0


@pytest.mark.parametrize(("answers", "retired"), [("y\n", 1), ("n\n", 0), ("q\n", 0), ("\n", 0)])
def test_each_is_asked_about(filled, monkeypatch, answers, retired):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr("sys.stdin", Terminal(answers))
    said = filled("facts", "verify", "--invalidate", "--json")
    assert len(said.data["retired"]) == retired
    assert "src/pay.py is gone" in said.err


def test_changed_files_are_listed_and_never_retired_unasked(filled):
    os.utime("tox.ini", (1_900_000_000, 1_900_000_000))
    data = filled("facts", "verify", "--json").data
    assert [row["changed"] for row in data["facts"]] == [[], ["tox.ini"]]
    assert filled("facts", "verify", "--missing", "--json").data["total"] == 1
    retired = filled("facts", "verify", "--invalidate", "--yes", "--json").data["retired"]
    assert retired == [f"shop:{fact_id(PAY)}"]


def test_show_and_recall_say_it_too(filled):
    assert "missing: ['src/pay.py']" in filled("facts", "show", fact_id(PAY)).out
    [shown] = filled("facts", "show", fact_id(BARE), "--json").data["facts"]
    assert "missing" not in shown
    assert "missing: src/pay.py" in filled("recall", "payments").out
    hits = filled("recall", "payments", "--json").data["hits"]
    [hit] = [hit for hit in hits if hit["text"] == PAY]
    assert hit["missing"] == ["src/pay.py"]
    block = filled("recall", "where are payments?", "--turn", "--json").data["block"]
    assert f"[2026-01-02 · a file it names is gone] {PAY}" in block


def test_it_can_be_switched_off(filled, monkeypatch):
    monkeypatch.setenv("HINDSIGHT_MEM_RECALL__CHECK_FILES", "false")
    assert "missing" not in filled("recall", "payments").out
    block = filled("recall", "where are payments?", "--turn", "--json").data["block"]
    assert f"[2026-01-02] {PAY}" in block


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_history_tells_of_changes_before_the_clone(filled):
    shutil.rmtree(".git")
    who = {f"GIT_{w}_{k}": "a@b" for w in ("AUTHOR", "COMMITTER") for k in ("NAME", "EMAIL")}
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, **who}
    for command in ("init -q", "add tox.ini", "commit -qm later"):
        subprocess.run(["git", *command.split()], check=True, env=env)
    os.utime("tox.ini", (1_600_000_000, 1_600_000_000))
    data = filled("facts", "verify", "--json").data
    assert ["tox.ini"] in [row["changed"] for row in data["facts"]]


def test_a_folder_that_is_no_project_is_told(mem, monkeypatch):
    monkeypatch.chdir("/")
    assert mem("facts", "verify", "--bank", "x").code == 2
