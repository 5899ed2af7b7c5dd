"""The tab Status."""

from __future__ import annotations

from typing import Any

import pytest

LABELS = [
    "bank", "health", "contents", "endpoint", "auto recall", "auto memorize", "effort",
    "recall models", "retain models", "language", "your settings", "project's",
]  # fmt: skip


def value(screen: Any, label: str) -> str:
    line = next(line for line in screen.body if line.startswith(label))
    return str(line.removeprefix(label).strip())


@pytest.mark.spec("pi/U-12")
async def test_its_rows(screen: Any, project: Any) -> None:
    screen.size = (200, 60)

    found = [
        next((label for label in LABELS if line.startswith(label)), "") for line in screen.body
    ]
    assert found == LABELS
    assert value(screen, "bank") == "shop"
    assert value(screen, "health") == "● ok"
    assert value(screen, "contents") == "0 documents, 0 facts"
    assert value(screen, "auto recall") == value(screen, "auto memorize") == "on"
    assert value(screen, "effort") == "normal"
    assert value(screen, "language") == "en"
    assert value(screen, "your settings").endswith("memory/config.toml")
    assert value(screen, "project's") == str(project / ".hindsight/config.toml")


@pytest.mark.spec("pi/U-12")
async def test_a_server_is_named_with_its_namespace(
    screen: Any, read: Any, project: Any, monkeypatch: Any
) -> None:
    monkeypatch.setenv("HINDSIGHT_MEM_HINDSIGHT__BASE_URL", "http://memory.example:8888")
    monkeypatch.setenv("HINDSIGHT_MEM_HINDSIGHT__NAMESPACE", "team")
    monkeypatch.setenv("HINDSIGHT_MEM_MODELS__RECALL", "openai/small")
    monkeypatch.setenv("HINDSIGHT_MEM_MODELS__RECALL_CHAIN", "x/y,z/w")
    screen.view.loaded = read()
    screen.size = (200, 60)

    assert value(screen, "endpoint") == "http://memory.example:8888 ns team"
    assert value(screen, "recall models") == "openai/small → x/y → z/w"


@pytest.mark.spec("pi/U-12", "pi/C-13")
async def test_a_dormant_project_is_marked_and_told_what_to_do(show: Any, dormant: Any) -> None:
    screen = show(dormant)
    screen.size = (200, 60)
    await screen.panel.open()

    assert value(screen, "bank") == "shop (INACTIVE)"
    assert screen.body[0] == "! memory is dormant: No bank is declared for this project."
    assert value(screen, "contents") == "—"


@pytest.mark.spec("pi/U-12", "pi/C-15")
async def test_a_change_is_announced_as_counting_from_the_next_session(screen: Any) -> None:
    await screen.press("tab", "enter", "down", "down", "down", "enter")
    await screen.press("shift+tab")

    assert screen.body[0] == (
        "! changed: recall.effort; counts from the next session on (in pi: /reload)"
    )


@pytest.mark.spec("pi/U-12")
async def test_a_bank_that_fails_is_red_and_says_why(screen: Any) -> None:
    from hindsight_core.errors import BankError
    from hindsight_core.testing.memory_bank import FakeBank

    bank = FakeBank("shop")
    bank.failing = BankError("503 from\nthe server")
    screen.view.runtime.bank = bank
    await screen.press("r")

    assert value(screen, "health") == "● 503 from the server"
    assert value(screen, "contents") == "—"
