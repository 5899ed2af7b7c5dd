from __future__ import annotations

import asyncio
import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from hindsight_core.cli.main import cli
from hindsight_core.state.usage import UsageStore
from hindsight_core.telemetry import ActivityLog


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return Path(os.environ["HINDSIGHT_MEM_HOME"])


def run(*arguments: str) -> str:
    result = CliRunner().invoke(cli, list(arguments))
    assert result.exit_code == 0, result.output
    return result.stdout


def data(*arguments: str) -> dict[str, Any]:
    return json.loads(run(*arguments, "--json"))


def fill(home: Path) -> None:
    store = UsageStore(home / "state.db")
    today = datetime.now(UTC).date()

    async def add() -> None:
        await store.add(today, "recall/judge", "S1", 2, 100, 10)
        await store.add(today, "recall/judge", "S2", 1, 50, 5)
        await store.add(today - timedelta(days=9), "memorize/extract", None, 1, 1000, 200)

    asyncio.run(add())
    store.close()


def test_usage_by_stage_and_day(home: Path) -> None:
    fill(home)
    found = data("usage")
    assert found["total"] == {"calls": 4, "input_tokens": 1150, "output_tokens": 215}
    assert found["stages"]["recall/judge"]["calls"] == 3
    assert [row["stage"] for row in found["rows"]] == ["memorize/extract", "recall/judge"]
    recent = data("usage", "--days", "3")
    assert list(recent["stages"]) == ["recall/judge"]
    text = run("usage")
    assert "recall/judge" in text
    assert "1150" in text


def test_usage_of_an_empty_home_makes_no_file(home: Path) -> None:
    assert data("usage")["rows"] == []
    assert run("usage").strip() == "no model was called"
    assert not home.exists()


@pytest.mark.spec("pi/D-23")
def test_log_shows_what_can_be_read_and_counts_the_rest(home: Path) -> None:
    log = ActivityLog(home / "logs")
    log.write("recall", outcome="injected", found=4)
    log.write("error", stage="memorize/extract", reason="model [down]")
    with next((home / "logs").iterdir()).open("a") as file:
        file.write('{"broken\n')
    found = data("log")
    assert [entry["type"] for entry in found["entries"]] == ["error", "recall"]
    assert found["malformed"] == 1
    assert [e["type"] for e in data("log", "--type", "recall")["entries"]] == ["recall"]
    assert len(data("log", "--limit", "1")["entries"]) == 1
    text = run("log")
    assert "reason=model [down]" in text
    assert len(data("log", "--since", "2020-01-01")["entries"]) == 2
    assert data("log", "--since", "2999-01-01T09:30")["entries"] == []
    assert "1 unreadable lines" in text


def test_log_of_an_empty_home(home: Path) -> None:
    assert data("log") == {"entries": [], "malformed": 0}
    assert run("log").strip() == "no entries"
    assert not home.exists()


def test_the_log_for_people_leaves_out_what_has_no_value(home):
    ActivityLog(home / "logs").write(
        "retain",
        session="S1",
        outcome="stored",
        reason=None,
        judged=True,
        counts={"a": 1, "b": {"c": False}},
    )
    said = run("log")
    assert "judged=yes" in said
    assert "counts={a: 1, b: {c: no}}" in said
    assert "outcome=stored" in said
    assert "None" not in said
