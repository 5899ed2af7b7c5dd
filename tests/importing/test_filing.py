"""Where past sessions go: the bank that their folder, host and agents have today."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hindsight_core.importing.filing import Filing
from hindsight_core.transcript.past import PastSession


def session(cwd: Path | None, *agents: str, options: dict[str, Any] | None = None) -> PastSession:
    def read(wanted: object) -> Any:
        raise AssertionError("filing reads nothing")

    return PastSession(
        host="opencode", session_id="s", source="s.json", updated=datetime(2026, 1, 1, tzinfo=UTC),
        read=read, cwd=str(cwd) if cwd else None, agents=agents, options=options or {},
    )  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "shop/.git").mkdir(parents=True)
    (tmp_path / "shop/.git/HEAD").write_text("ref: refs/heads/main\n")
    return tmp_path / "shop"


def banks(parts: list[Any]) -> list[tuple[str | None, frozenset[str] | None]]:
    return [(part.place.bank, part.agents) for part in parts]


def test_a_project_without_a_declaration_has_its_own_bank(project):
    [part] = Filing(os.environ, claim=False).parts(session(project / "src"))
    assert part.place.bank is None  # the folder is not there any more
    (project / "src").mkdir()
    [part] = Filing(os.environ, claim=False).parts(session(project / "src"))
    assert part.place.bank == "shop"


def test_agents_with_one_bank_are_not_parted(project):
    parts = Filing(os.environ, claim=False).parts(session(project, "build", "plan"))
    assert banks(parts) == [("shop", None)]


@pytest.mark.spec("oc/O-CFG-2")
def test_agents_with_banks_of_their_own_are_parted(project):
    options = {
        "profile": "opencode-hindsight",
        "agents": {"build": {"bankId": "one"}, "plan": {"bankId": "two"}},
    }
    parts = Filing(os.environ, claim=False).parts(
        session(project, "build", "other", "plan", options=options)
    )
    assert banks(parts) == [
        ("one", frozenset({"build"})),
        (None, frozenset({"other"})),
        ("two", frozenset({"plan"})),
    ]
    assert "agent other has no block" in str(parts[1].place.reason)


def test_a_bank_that_is_named_takes_everything(project):
    [part] = Filing(os.environ, claim=False, bank="mine").parts(session(project))
    assert part.place.bank == "mine"


def test_nothing_goes_where_writing_is_off(project, monkeypatch):
    monkeypatch.setenv("HINDSIGHT_MEM_BANK__READ_ONLY", "true")
    [part] = Filing(os.environ, claim=False).parts(session(project))
    assert part.place.bank is None
    assert "read_only" in str(part.place.reason)
    monkeypatch.setenv("HINDSIGHT_MEM_OFF", "1")
    [part] = Filing(os.environ, claim=False).parts(session(project))
    assert "switched off" in str(part.place.reason)


def test_only_what_is_opted_in(project, monkeypatch):
    monkeypatch.setenv("HINDSIGHT_MEM_BANK__OPT_IN_ONLY", "true")
    [part] = Filing(os.environ, claim=False).parts(session(project))
    assert part.place.bank is None
    assert "opt_in" in str(part.place.reason)


def test_two_projects_of_one_name_are_told_apart_as_they_will_be(project, tmp_path):
    other = tmp_path / "work/shop"
    (other / ".git").mkdir(parents=True)
    (other / ".git/HEAD").write_text("ref: refs/heads/main\n")

    def names(*, claim: bool) -> list[str | None]:
        filing = Filing(os.environ, claim=claim)
        return [filing.parts(session(folder))[0].place.bank for folder in (project, other)]

    looked = names(claim=False)
    assert looked[0] == "shop"
    assert names(claim=True) == looked
    assert names(claim=False) == looked
