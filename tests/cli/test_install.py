"""``install`` and ``uninstall``: dry runs, backups, what the configuration says afterwards."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ORIGINAL = '{\n  "theme": "dark"\n}\n'


def run(*arguments: str, code: int = 0) -> str:
    """The command's stdout."""
    done = subprocess.run(
        [sys.executable, "-m", "hindsight_core", *arguments],
        env=dict(os.environ), capture_output=True, text=True, timeout=50, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """pi's settings file of a user."""
    agent = tmp_path / "agent"
    agent.mkdir()
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(agent))
    monkeypatch.chdir(tmp_path)
    (agent / "settings.json").write_text(ORIGINAL)
    return agent / "settings.json"


def memory() -> Path:
    return Path(os.environ["HINDSIGHT_MEM_HOME"])


def test_a_dry_run_shows_and_changes_nothing(settings: Path) -> None:
    shown = run("install", "pi", "--dry-run")

    assert "+++" in shown
    assert "extensions" in shown
    assert settings.read_text() == ORIGINAL
    assert not memory().exists()


def test_install_keeps_a_backup_once_and_the_way_back(settings: Path) -> None:
    run("install", "pi")
    backup = settings.with_name("settings.json.hindsight-backup")
    launch: dict[str, Any] = json.loads((memory() / "shims/pi/launch.json").read_text())
    settings.write_text(settings.read_text().replace("dark", "light"))
    run("install", "pi")

    assert backup.read_text() == ORIGINAL
    assert launch["command"][-3:] == ["bridge", "--host", "pi"]
    assert launch["env"] == {"HINDSIGHT_MEM_HOME": str(memory())}
    run("uninstall", "pi")
    assert json.loads(settings.read_text()) == {"theme": "light"}


def test_install_declares_a_bank_for_every_project_unless_told_not_to(settings: Path) -> None:
    run("install", "pi", "--opt-in")
    config = memory() / "config.toml"
    assert not config.exists()

    run("install", "pi")

    assert 'id = "auto"' in config.read_text()


def test_a_file_that_cannot_be_parsed_is_named_with_its_line(settings: Path) -> None:
    settings.write_text('{"theme": "dark",\n oops}')

    said = run("install", "pi", code=2)

    assert f"{settings}, line 2" in said
    assert settings.read_text() == '{"theme": "dark",\n oops}'


def test_an_unknown_host_is_refused_with_the_known_ones(settings: Path) -> None:
    assert "generic" in run("install", "nothing", code=2)


@pytest.fixture
def agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with two agents, and a path on which no other is found."""
    home = Path(os.environ["HOME"])
    (home / ".codex").mkdir()
    (home / ".gemini").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return home


def test_all_wires_the_agents_that_are_found(agents: Path) -> None:
    told = json.loads(run("install", "all", "--json"))

    assert told["hosts"] == ["codex", "gemini"]
    assert str(agents / ".gemini/settings.json") in told["changes"]
    assert any("trusted" in note for note in told["notes"])
    assert not (agents / ".claude").exists()
    assert json.loads(run("install", "all", "--json"))["changes"] == []
    run("uninstall", "all")
    assert [path for path in agents.rglob("*") if path.is_file()] == [memory() / "config.toml"]


def test_one_broken_file_does_not_keep_memory_from_the_others(agents: Path) -> None:
    (agents / ".codex/hooks.json").write_text("{\n oops")

    said = run("install", "all", code=2)

    assert "hooks.json, line 2" in said
    assert (agents / ".codex/hooks.json").read_text() == "{\n oops"
    assert (agents / ".gemini/settings.json").exists()


def test_where_there_is_no_agent_all_says_which_there_could_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    said = run("install", "all")

    assert "no agent was found" in said and "claude-code" in said
    assert not memory().exists()


def test_a_dry_run_as_json_has_the_diff(agents: Path) -> None:
    told = json.loads(run("install", "codex", "--dry-run", "--json"))

    assert "+++ " in told["diff"] and "hook codex SessionStart" in told["diff"]
    assert not (agents / ".codex/hooks.json").exists()


def test_a_linked_file_stays_a_link_and_keeps_its_mode_and_line_ends(agents: Path) -> None:
    dotfiles = agents / "dotfiles.json"
    dotfiles.write_bytes(b'{\r\n  "theme": "dark"\r\n}\r\n')
    dotfiles.chmod(0o640)
    settings = agents / ".gemini/settings.json"
    settings.symlink_to(dotfiles)

    run("install", "gemini")

    assert settings.is_symlink()
    assert dotfiles.stat().st_mode & 0o777 == 0o640
    assert dotfiles.read_bytes().count(b"\n") == dotfiles.read_bytes().count(b"\r\n")
    run("uninstall", "gemini")
    assert dotfiles.read_bytes() == b'{\r\n  "theme": "dark"\r\n}\r\n'
