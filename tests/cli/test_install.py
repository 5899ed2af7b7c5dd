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
