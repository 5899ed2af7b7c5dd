"""The panel over the bridge: keys in, lines out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from hindsight_core.engine.core import MemoryEngine
from hindsight_core.errors import MemoryOff
from hindsight_core.panel.session import PanelSession

SIZE = {"width": 80, "height": 24}


class Outlet:
    """A host that declared nothing."""

    capabilities: frozenset[str] = frozenset()

    def notify(self, method: str, params: dict[str, Any]) -> None:
        pass

    def bridge(self, capabilities: frozenset[str]) -> Outlet:
        return self

    async def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        raise AssertionError(method)


class Host:
    """A session and its panel."""

    def __init__(self, folder: Path, **env: str) -> None:
        self.folder = folder
        self.told: list[tuple[str, dict[str, Any]]] = []
        given = {"HINDSIGHT_MEM_HOME": str(folder / "memory"), "HOME": str(folder), **env}
        self.engine = MemoryEngine(host="pi", env=given, outlet=Outlet())
        self.panel = PanelSession(self.engine, lambda m, p: self.told.append((m, p)))

    async def begin(self, **session: Any) -> None:
        project = self.folder / "shop"
        (project / ".git").mkdir(parents=True)
        params = {"cwd": str(project), "session": {"id": "s", "trusted": True, **session}}
        await self.engine.call("initialize", {"protocol": 1, **params})

    async def key(self, name: str, **more: Any) -> dict[str, Any]:
        return await self.panel.key({"key": name, **SIZE, **more})


@pytest.fixture
async def host(tmp_path: Path) -> AsyncIterator[Host]:
    host = Host(tmp_path, HINDSIGHT_MEM_BANK__ID="demo", HINDSIGHT_MEM_BANK__BACKEND="sqlite")
    yield host
    await host.panel.close({})
    await host.engine.close()


@pytest.mark.spec("pi/U-01")
async def test_it_opens_on_status_and_closes_with_escape(host: Host) -> None:
    await host.begin()
    opened = await host.panel.open(dict(SIZE))

    assert opened["closed"] is False
    assert len(opened["lines"]) == 12
    assert "[Status]" in opened["lines"][0]
    assert any("demo" in line for line in opened["lines"])
    assert await host.key("\x1b") == {"lines": [], "closed": True}
    assert await host.key("tab") == {"lines": [], "closed": True}


@pytest.mark.spec("pi/U-01", "pi/C-13")
async def test_it_opens_where_no_bank_is_declared(tmp_path: Path) -> None:
    host = Host(tmp_path)
    await host.begin()
    opened = await host.panel.open(dict(SIZE))

    assert any("INACTIVE" in line for line in opened["lines"])
    await host.engine.close()


@pytest.mark.spec("pi/U-24", "pi/U-01")
async def test_a_bank_is_declared_in_a_dormant_project(tmp_path: Path) -> None:
    host = Host(tmp_path)
    await host.begin()
    await host.panel.open(dict(SIZE))
    for name in ("tab", "enter", "enter"):
        await host.key(name)
    await host.key("text", text="auto")
    done = await host.key("enter")

    assert "written to" in done["lines"][-2]
    written = (tmp_path / "shop/.hindsight/config.toml").read_text()
    assert 'id = "auto"' in written
    again = await host.engine.call(
        "initialize",
        {"cwd": str(tmp_path / "shop"), "session": {"id": "s", "trusted": True}},
    )
    assert again["state"] == "active"
    await host.panel.close({})
    await host.engine.close()


@pytest.mark.spec("pi/U-04")
@pytest.mark.parametrize("session", [None, {"ephemeral": True}])
async def test_without_a_session_it_says_why_not(host: Host, session: Any) -> None:
    if session:
        await host.begin(**session)
    with pytest.raises(MemoryOff, match="session"):
        await host.panel.open(dict(SIZE))


async def test_colours_only_where_they_are_wanted(host: Host) -> None:
    await host.begin()

    assert "\x1b[" not in "".join((await host.panel.open(dict(SIZE)))["lines"])
    assert "\x1b[" in "".join((await host.panel.open({**SIZE, "colour": True}))["lines"])


async def test_keys_are_taken_in_their_order(host: Host) -> None:
    await host.begin()
    await host.panel.open(dict(SIZE))
    found = await asyncio.gather(*(host.key(name) for name in ("tab", "tab", "shift+tab", "tab")))

    titles = [f["lines"][0].split("[")[1].split("]")[0] for f in found]
    assert titles == ["Settings", "Review", "Settings", "Review"]


@pytest.mark.spec("pi/U-11")
@pytest.mark.parametrize("size", [{}, {"width": "x", "height": None}, {"width": -1, "height": 0}])
async def test_a_size_that_is_none_keeps_the_last(host: Host, size: Any) -> None:
    await host.begin()
    await host.panel.open(dict(SIZE))
    found = await host.panel.key({"key": "", **size})

    assert len(found["lines"]) == 12


async def test_an_edit_goes_out_and_comes_back(host: Host) -> None:
    from hindsight_core.memory import Document, Fact

    await host.begin()
    _, live = host.engine.session
    assert live is not None
    bank = live.runtime.bank
    await bank.retain(Document(id="d", text="", facts=(Fact(id="f", text="A is B."),)))
    await host.panel.open(dict(SIZE))
    await host.key("shift+tab")
    await host.key("enter")
    asked = await host.key("e")
    assert asked["edit"] == {"title": "Fact", "text": "A is B."}
    changed = await host.key("edited", text="A is C.")

    assert "edit" not in changed
    assert any("A is C." in line for line in changed["lines"])
    fact = await bank.get_fact("f")
    assert fact is not None
    assert fact.text == "A is C."


@pytest.mark.spec("br/BR-01")
async def test_a_slow_bank_never_freezes_a_key_and_its_lines_come_later(host: Host) -> None:
    from hindsight_core.memory import FactPage
    from hindsight_core.testing.memory_bank import FakeBank

    gate = asyncio.Event()

    class Slow(FakeBank):
        async def list_facts(self, **given: Any) -> FactPage:
            await gate.wait()
            return await super().list_facts(**given)

    await host.begin()
    _, live = host.engine.session
    assert live is not None
    await host.panel.open(dict(SIZE))
    live.runtime.bank = Slow("demo")
    waiting = await host.key("shift+tab")
    assert waiting["lines"][-2] == "loading…"
    assert host.told == []

    gate.set()
    for _ in range(100):
        if host.told:
            break
        await asyncio.sleep(0.01)
    method, params = host.told[-1]
    assert method == "panel/changed"
    assert any("no facts" in line for line in params["lines"])
