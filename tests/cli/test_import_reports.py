"""Imported history lands where it was recorded to belong, dated by what was said in it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """Two repositories whose encoded names cannot be told apart from a folder's in one of them."""
    for name in ("repo", "repo-sub"):
        (tmp_path / "work" / name / ".git").mkdir(parents=True)
        (tmp_path / "work" / name / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / "work/repo/sub").mkdir()
    return tmp_path / "work"


@pytest.fixture
def session_file():
    """Claude Code keeps a session in a folder of that encoded name."""
    folder = Path(os.environ["HOME"]) / ".claude/projects"

    def keep(name: str, text: str, *, cwd: Path | None, when: str = "2026-01-02T00:00:00Z") -> None:
        record = {
            "type": "user", "uuid": f"u-{text[:4]}", "parentUuid": None, "isSidechain": False,
            "timestamp": when, "message": {"role": "user", "content": f"Remember that {text}."},
        }  # fmt: skip
        if cwd is not None:
            record["cwd"] = str(cwd)
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / f"{text.replace(' ', '-')}.jsonl").write_text(json.dumps(record) + "\n")

    return keep


def texts(mem, bank: str) -> list[str]:
    return [f["text"] for f in mem("facts", "list", "--json", "--bank", bank).data["facts"]]


@pytest.mark.spec("br/BR-74")
def test_a_folders_encoded_name_proves_nothing(mem, work, session_file, monkeypatch):
    session_file("-work-repo-sub", "the sibling uses port 8443", cwd=work / "repo-sub")
    session_file("-work-repo-sub", "our own gateway uses port 9443", cwd=work / "repo/sub")
    session_file("-work-repo", "nobody knows where port 7443 is", cwd=None)
    monkeypatch.chdir(work / "repo")

    looked = mem("import", "sessions", "claude-code", "--dry-run", "--json").data
    first = mem("import", "sessions", "claude-code", "--json").data

    numbers = ("sessions", "new", "tokens")
    assert {b: [sums[n] for n in numbers] for b, sums in looked["banks"].items()} == {
        b: [sums[n] for n in numbers] for b, sums in first["banks"].items()
    }
    assert texts(mem, "repo") == ["Our own gateway uses port 9443"]
    assert texts(mem, "repo-sub") == ["The sibling uses port 8443"]
    [skipped] = [row for row in first["sessions"] if row["outcome"] == "skipped"]
    assert "records no folder" in skipped["reason"]
    assert "1 left out" in mem("import", "sessions", "claude-code").out

    second = mem("import", "sessions", "claude-code", "--json").data
    assert {sums["new"] for sums in second["banks"].values()} == {0}
    assert len(texts(mem, "repo")) == len(texts(mem, "repo-sub")) == 1


@pytest.mark.spec("br/BR-74")
def test_only_the_project_that_one_stands_in(mem, work, session_file, monkeypatch):
    session_file("-work-repo-sub", "the sibling uses port 8443", cwd=work / "repo-sub")
    session_file("-work-repo-sub", "our own gateway uses port 9443", cwd=work / "repo/sub")
    monkeypatch.chdir(work / "repo")
    done = mem("import", "sessions", "--project", ".", "--json").data
    assert list(done["banks"]) == ["repo"]
    assert texts(mem, "repo-sub") == []


@pytest.mark.spec("br/BR-77")
def test_facts_have_the_time_of_their_entries(mem, work, session_file, monkeypatch):
    monkeypatch.chdir(work / "repo")
    here = work / "repo"
    session_file("a", "we moved to Kubernetes", cwd=here, when="2025-01-15T10:00:00Z")
    session_file("a", "the old Heroku app is gone", cwd=here, when="2025-03-01T08:00:00Z")
    mem("import", "sessions", "claude-code")
    listed = mem("facts", "list", "--json", "--bank", "repo").data["facts"]
    assert sorted(fact["timestamp"] for fact in listed) == [
        "2025-01-15T10:00:00Z",
        "2025-03-01T08:00:00Z",
    ]
