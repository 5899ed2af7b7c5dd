"""The tab Settings: order, layers, and what is told."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

ORDER = [
    "bank.id", "recall.enabled", "memorize.enabled", "recall.effort", "recall.filter",
    "recall.max_lines", "models.recall", "models.retain", "models.recall_chain",
    "models.retain_chain", "memorize.language", "category goal", "category decisions",
    "category constraints", "category knowhow", "category pitfalls", "category facts",
    "category code", "category domain",
]  # fmt: skip


@pytest.fixture
async def settings(screen: Any) -> Any:
    screen.size = (160, 60)
    await screen.press("tab", "enter")
    return screen


async def at(screen: Any, label: str) -> None:
    await screen.press("home", *["down"] * ORDER.index(label))


def files(screen: Any, project: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    found = []
    for path in (screen.view.loaded.paths.config, project / ".hindsight/config.toml"):
        found.append(tomllib.loads(path.read_text()) if path.is_file() else {})
    return found[0], found[1]


def shown(screen: Any, label: str) -> str:
    line = next(line for line in screen.body if label in line)
    return str(line.split(label)[1].split("  ")[-2].strip())


@pytest.mark.spec("pi/U-20", "pi/U-25")
async def test_rows_in_their_order_and_no_others(settings: Any) -> None:
    labels = []
    for _ in ORDER:
        line = next(line for line in settings.body if line.startswith("›"))
        labels.append(line.removeprefix("› ")[:30].strip())
        await settings.press("down")
    assert labels == ORDER


@pytest.mark.spec("pi/U-20")
@pytest.mark.parametrize(
    ("label", "values"),
    [
        ("recall.enabled", ["off", "on", "off"]),
        ("memorize.enabled", ["off", "on"]),
        ("recall.effort", ["thorough", "light", "normal"]),
        ("recall.filter", ["off", "model"]),
        ("recall.max_lines", ["12", "16", "4", "6", "8"]),
        ("category goal", ["off", "ban", "on"]),
    ],
)
async def test_enter_goes_through_the_values(settings: Any, label: str, values: list[str]) -> None:
    await at(settings, label)
    for expected in values:
        await settings.press("enter")
        assert shown(settings, label) == expected


@pytest.mark.spec("pi/U-24")
async def test_bank_and_categories_go_to_the_project_the_rest_to_the_user(
    settings: Any, project: Path
) -> None:
    await at(settings, "recall.effort")
    await settings.press("enter")
    await at(settings, "category code")
    await settings.press("enter")
    await at(settings, "category goal")
    await settings.press("enter")
    await at(settings, "bank.id")
    await settings.press("enter", "ctrl+u")
    await settings.type("My Bank")
    await settings.press("enter")

    mine, projects = files(settings, project)
    assert mine == {"recall": {"effort": "thorough"}}
    assert projects["memorize"] == {"categories": {"code": "ban", "goal": "off"}}
    assert projects["bank"] == {"id": "My Bank"}


@pytest.mark.spec("pi/U-24")
async def test_a_chain_is_split_and_an_empty_text_is_written(settings: Any, project: Path) -> None:
    await at(settings, "models.recall_chain")
    await settings.press("enter")
    await settings.type("a/b, c/d,,")
    await settings.press("enter")
    assert files(settings, project)[0]["models"]["recall_chain"] == ["a/b", "c/d"]

    await settings.press("enter", "ctrl+u", "enter")
    assert files(settings, project)[0]["models"]["recall_chain"] == []
    await at(settings, "bank.id")
    await settings.press("enter", "ctrl+u", "enter")
    assert files(settings, project)[1]["bank"] == {"id": ""}


async def test_escape_writes_nothing(settings: Any, project: Path) -> None:
    await at(settings, "memorize.language")
    await settings.press("enter", "x", "escape")

    assert files(settings, project)[0] == {}


async def test_a_wrong_value_is_refused_with_what_was_expected(
    settings: Any, project: Path
) -> None:
    await at(settings, "memorize.language")
    await settings.press("enter", "ctrl+u", "enter")

    assert "memorize.language" in settings.said
    assert "expected" in settings.said
    assert files(settings, project)[0] == {}


async def test_what_a_stronger_layer_says_is_told(settings: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("HINDSIGHT_MEM_RECALL__EFFORT", "light")
    await at(settings, "recall.effort")
    await settings.press("enter")

    assert "HINDSIGHT_MEM_RECALL__EFFORT is stronger" in settings.said


@pytest.mark.spec("pi/F-12", "pi/C-15")
async def test_all_settings_on_demand_and_a_secret_stays_hidden(
    settings: Any, monkeypatch: Any
) -> None:
    token = "-".join(["tok", "en", "123"])
    monkeypatch.setenv("HINDSIGHT_MEM_HINDSIGHT__TOKEN", token)
    await settings.press("a", "end")
    settings.size = (160, 10_000)
    settings.panel._rows = lambda height: height - 4

    assert "reminder.turns" in settings.text
    assert "queue.max_attempts" in settings.text
    await settings.press("shift+tab", "tab")
    assert "hindsight.token " in settings.text
    assert token not in settings.text
    await settings.press("enter", "a")
    assert "reminder.turns" not in settings.text


@pytest.mark.spec("am/A-TOOL")
async def test_those_of_active_memory_are_listed_for_its_command(view: Any, show: Any) -> None:
    from hindsight_core.engine.panel_place import PanelPlace

    view.place = PanelPlace("Settings", mode="active-memory")
    screen = show(view)
    await screen.go("Settings")
    await screen.press("enter")
    seen = screen.text
    for _ in range(8):
        await screen.press("pagedown")
        seen += screen.text
    for key in (
        "consolidation.similarity_thre",
        "lifecycle.deletion_threshold",
        "steer.top_k",
    ):
        assert key in seen
    assert "recall.effort" not in seen
    await screen.press("home", "enter")
    (logged,) = view.runtime.log.read(5, type="config.updated")
    assert logged["setting_name"] == "tools.memory"
    screen.panel.close()
