"""The widget follows a session: recalls, writes, counts, trouble, and its end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from hindsight_core.engine.core import MemoryEngine
from hindsight_core.engine.watch import memorize_said
from hindsight_core.memorize.report import MemorizeReport, Retired
from hindsight_core.memory import Document, Fact

GATEWAY = "The API gateway listens on port 8443 behind nginx."


class Outlet:
    """A host that keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, dict[str, Any]]] = []
        self.news = asyncio.Event()
        self.capabilities: frozenset[str] = frozenset()

    def notify(self, method: str, params: dict[str, Any]) -> None:
        self.told.append((method, params))
        self.news.set()

    def bridge(self, capabilities: frozenset[str]) -> Outlet:
        return self

    async def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        raise AssertionError(method)

    def lines(self) -> list[str]:
        return [p["line"] for m, p in self.told if m == "status/changed"]

    def notices(self) -> list[tuple[str, str]]:
        return [(p["level"], p["text"]) for m, p in self.told if m == "notify"]

    async def until(self, done: Callable[[], bool]) -> None:
        async with asyncio.timeout(10):
            while not done():
                self.news.clear()
                await self.news.wait()


@pytest.fixture
def outlet() -> Outlet:
    return Outlet()


@pytest.fixture
async def engine(
    outlet: Outlet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[MemoryEngine]:
    env = {
        "HINDSIGHT_MEM_HOME": str(tmp_path / "memory"),
        "HOME": str(tmp_path),
        "HINDSIGHT_MEM_BANK__ID": "demo",
        "HINDSIGHT_MEM_MODELS__PROVIDER": "none",
        "HINDSIGHT_MEM_BANK__BACKEND": "sqlite",
    }
    engine = MemoryEngine(host="generic", env=env, outlet=outlet)
    yield engine
    await engine.close()


async def opened(
    engine: MemoryEngine, tmp_path: Path, *, status: bool = True, **session: Any
) -> dict[str, Any]:
    found = await engine.call(
        "initialize",
        {
            "protocol": 1,
            "cwd": str(tmp_path),
            "session": {"id": "s", **session},
            "capabilities": {"status": status},
        },
    )
    await engine.call("session/start", {"reason": "startup", "entries": []})
    return found


def polling() -> list[asyncio.Task[Any]]:
    return [t for t in asyncio.all_tasks() if "_look_on" in repr(t)]


@pytest.mark.spec("pi/U-47", "pi/U-41", "pi/U-48", "pi/S-01")
async def test_a_session_is_checked_then_counted_then_ready(
    engine: MemoryEngine, outlet: Outlet, tmp_path: Path
) -> None:
    await opened(engine, tmp_path)
    await outlet.until(lambda: len(outlet.notices()) > 0)

    lines = outlet.lines()
    assert any("◐" in line and "checking…" in line for line in lines)
    assert lines[-1] == "🧠 ● demo ↙↗ 0d 0f"
    assert outlet.notices() == [("info", 'bank "demo" ready')]
    assert all("\n" not in line for line in lines)


@pytest.mark.spec("pi/U-47")
async def test_counts_are_asked_again_and_nothing_is_left_running(
    engine: MemoryEngine, outlet: Outlet, tmp_path: Path
) -> None:
    await opened(engine, tmp_path)
    await outlet.until(lambda: outlet.lines()[-1].endswith("0d 0f"))
    _, live = engine.session
    assert live is not None
    assert len(polling()) == 1

    fact = Fact(id="f", text=GATEWAY)
    await live.runtime.bank.retain(Document(id="d", text="", facts=(fact,)))
    live.watch.look()
    await outlet.until(lambda: outlet.lines()[-1].endswith("1d 1f"))

    await engine.call("session/end", {"reason": "quit"})
    assert polling() == []


@pytest.mark.spec("pi/R-23", "pi/U-45", "pi/TC-12")
async def test_a_turn_is_waiting_and_then_its_outcome_in_one_line(
    engine: MemoryEngine, outlet: Outlet, tmp_path: Path
) -> None:
    await opened(engine, tmp_path)
    await outlet.until(lambda: outlet.lines()[-1].endswith("0d 0f"))
    _, live = engine.session
    assert live is not None
    await live.runtime.bank.retain(Document(id="d", text="", facts=(Fact(id="f", text=GATEWAY),)))

    prompt = "Which port does the API gateway listen on?"
    await engine.call("turn/start", {"turnId": "t", "prompt": prompt, "entries": []})

    lines = outlet.lines()
    assert any("⟳" in line and "↙ waiting for bank… (clears on reply)" in line for line in lines)
    assert "● demo" in lines[-1]
    assert "↙ recall by words · " in lines[-1]
    assert "→1 · " in lines[-1]
    assert {len(line.splitlines()) for line in lines} == {1}


@pytest.mark.spec("pi/U-48", "pi/U-44")
async def test_a_bank_that_is_away_is_a_warning_and_an_error_on_the_line(
    outlet: Outlet, tmp_path: Path, loopback: None
) -> None:
    env = {
        "HINDSIGHT_MEM_HOME": str(tmp_path / "memory"),
        "HOME": str(tmp_path),
        "HINDSIGHT_MEM_BANK__ID": "demo",
        "HINDSIGHT_MEM_HINDSIGHT__BASE_URL": "http://127.0.0.1:9",
    }
    engine = MemoryEngine(host="generic", env=env, outlet=outlet)
    await opened(engine, tmp_path)
    await outlet.until(lambda: any("error" in str(p) for _, p in outlet.told))
    await outlet.until(lambda: len(outlet.notices()) > 0)

    assert [level for level, _ in outlet.notices()] == ["warning"]
    assert " · " in outlet.lines()[-1]
    assert "0d" not in outlet.lines()[-1]
    await engine.close()


@pytest.mark.spec("pi/U-04", "pi/C-13")
@pytest.mark.parametrize("session", [{"ephemeral": True}, {}])
async def test_without_status_or_with_tools_only_nothing_is_told_or_polled(
    engine: MemoryEngine, outlet: Outlet, tmp_path: Path, session: dict[str, Any]
) -> None:
    await opened(engine, tmp_path, status="ephemeral" in session, **session)

    assert outlet.told == []
    assert polling() == []


@pytest.mark.spec("pi/U-43", "pi/TC-12")
async def test_retired_facts_add_up(engine: MemoryEngine, outlet: Outlet, tmp_path: Path) -> None:
    await opened(engine, tmp_path)
    await outlet.until(lambda: outlet.lines()[-1].endswith("0d 0f"))
    _, live = engine.session
    assert live is not None
    gone = Retired("f", "A is B.", "A is no more")

    live.watch.memorized([MemorizeReport("empty", retired=(gone, gone))])
    assert "0f↓2" in outlet.lines()[-1]
    live.watch.memorized([MemorizeReport("empty", retired=(gone,))])
    assert "0f↓3" in outlet.lines()[-1]
    live.watch.memorized([MemorizeReport("empty")])
    assert "0f↓3" in outlet.lines()[-1]


@pytest.mark.spec("pi/U-45")
def test_what_a_memorize_run_came_to() -> None:
    nine = tuple(Fact(id=str(n), text=str(n)) for n in range(9))
    stored = MemorizeReport("stored", document_id="d", stored=nine)

    assert memorize_said([stored]) == ("↗ stored 1 doc · 9 lines", False)
    assert memorize_said([]) == ("↗ nothing new to store", False)
    assert memorize_said([MemorizeReport("known")]) == ("↗ nothing new to store", False)
    assert memorize_said([MemorizeReport("queued")]) == ("↗ queued until the bank is back", False)
    failed = MemorizeReport("failed", reason="no model")
    assert memorize_said([stored, failed]) == ("↗! no model", True)


@pytest.mark.spec("pi/U-45")
async def test_reflect_and_memorize_are_told_as_they_go(
    engine: MemoryEngine, outlet: Outlet, tmp_path: Path
) -> None:
    await opened(engine, tmp_path)
    await outlet.until(lambda: outlet.lines()[-1].endswith("0d 0f"))
    _, live = engine.session
    assert live is not None

    live.watch.called("hindsight_reflect", {"query": "why"}, {"outcome": "ok"})
    assert outlet.lines()[-1].endswith(" · ↙ reflect · answered · why")
    live.watch.called("hindsight_reflect", {"query": "why"}, {"outcome": "empty"})
    assert outlet.lines()[-1].endswith(" · ↙ reflect · no answer · why")
    with live.watch.memorizing("compact"):
        assert "⟳" in outlet.lines()[-1]
        assert outlet.lines()[-1].endswith(" · ↗ compact → memory")
        live.watch.memorize_failed("no\nmodel")
    assert outlet.lines()[-1].endswith(" · ↗! no model")
    last = outlet.told[-1][1]["parts"][-1]
    assert last["tone"] == "error"
