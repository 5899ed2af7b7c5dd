"""The omp adapter keeps the rules of every host, and those of sessions that change in a process."""

from __future__ import annotations

from typing import Any

import pytest
from hindsight_host_omp import host as omp_host
from hindsight_host_omp.adapter import OmpAdapter

from hindsight_core.testing.extension_driver import ExtensionDriver
from hindsight_core.testing.hosts import HostContract, block


class TestOmp(HostContract):
    settings = (
        ".omp/agent/config.yml",
        "# mine\ntheme: dark\nextensions:\n  - /mine.ts # here\nmemory: {backend: off}\n",
    )

    @pytest.fixture
    def driver(self) -> ExtensionDriver:
        return ExtensionDriver(OmpAdapter)

    @pytest.fixture
    def host(self) -> object:
        return omp_host

    def test_it_stays_inside_omps_own_cuts(self, driver: ExtensionDriver) -> None:
        """The shim waits a second more than the limits: handlers are cut at 30 s and at 2 s."""
        limits = driver.adapter.limits
        assert (limits.turn_start_ms, limits.session_end_ms) == (28_000, 500)


def session(session_id: str, **told: Any) -> dict[str, Any]:
    return {"id": session_id, "file": f"/{session_id}.jsonl", "ephemeral": False, **told}


def user(name: str, text: str) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    message = {"role": "user", "content": content, "timestamp": 1}
    return {"type": "message", "id": name, "message": message}


@pytest.fixture
def driver() -> ExtensionDriver:
    return ExtensionDriver(OmpAdapter)


def calls(driver: ExtensionDriver, *methods: str) -> list[tuple[str, Any]]:
    return [(m, p.get("reason")) for m, p in driver.engine.calls if m in methods]


@pytest.mark.parametrize(
    ("change", "given", "told"),
    [
        ("switch", {"reason": "new"}, "new"),
        ("switch", {"reason": "resume"}, "resume"),
        ("switch", {"reason": "fork"}, "fork"),
        ("branch", {}, "fork"),
    ],
)
async def test_another_session_ends_the_one_and_opens_the_other(
    driver: ExtensionDriver, change: str, given: dict[str, str], told: str
) -> None:
    await driver.start("s-1")
    driver.engine.blocks = [block("a fact")]
    await driver.ask("Hello")
    await driver.adapter.event(f"session_before_{change}", {**given, **driver.delta()})
    payload = {**given, "cwd": "/work", "session": session("s-2"), "entries": []}
    await driver.adapter.event(f"session_{change}", payload)

    assert calls(driver, "session/start", "session/end") == [
        ("session/start", "startup"),
        ("session/end", told),
        ("session/start", told),
    ]
    opened = [p["session"]["id"] for m, p in driver.engine.calls if m == "initialize"]
    assert opened == ["s-1", "s-2"]
    driver.request = []
    assert await driver.ask("And here?") == []


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ([], "startup"),
        ([{"type": "model_change", "id": "m"}], "startup"),
        ([user("a", "Hi")], "resume"),
    ],
)
async def test_a_session_with_words_in_it_is_continued(
    driver: ExtensionDriver, entries: list[Any], reason: str
) -> None:
    payload = {"cwd": "/work", "session": session("s"), "entries": entries}
    await driver.adapter.event("session_start", payload)

    assert calls(driver, "session/start") == [("session/start", reason)]


@pytest.mark.parametrize(
    ("file", "parent", "is_child"),
    [
        ("/s/main/Scout.jsonl", "/s/main.jsonl", True),
        ("/s/branch.jsonl", "/s/main.jsonl", False),
        ("/s/main.jsonl", None, False),
    ],
)
async def test_a_sub_agent_is_known_by_its_folder(
    driver: ExtensionDriver, file: str, parent: str | None, is_child: bool
) -> None:
    told = session("s", file=file, parent=parent)
    await driver.adapter.event("session_start", {"cwd": "/w", "session": told, "entries": []})

    opened = driver.engine.calls[0][1]["session"]
    assert ("parentId" in opened) is is_child


@pytest.mark.parametrize(
    ("status", "other"),
    [
        (None, None),
        ({"backend": "off"}, None),
        ({"backend": "hindsight"}, "omp's own memory (memory.backend: hindsight)"),
        ({"backend": "mnemopi"}, "omp's own memory (memory.backend: mnemopi)"),
    ],
)
async def test_the_core_is_told_of_omps_own_memory(
    driver: ExtensionDriver, status: Any, other: str | None
) -> None:
    told = session("s", memory=status)
    await driver.adapter.event("session_start", {"cwd": "/w", "session": told, "entries": []})

    assert driver.engine.calls[0][1]["session"].get("otherMemory") == other


async def test_a_project_is_never_trusted_on_omps_word(driver: ExtensionDriver) -> None:
    await driver.start("s")

    assert "trusted" not in driver.engine.calls[0][1]["session"]


async def test_reading_tools_need_no_approval_for_writing(driver: ExtensionDriver) -> None:
    adapter = driver.adapter
    tiers = {n: adapter.tool({"name": n})["approval"] for n in ("hindsight_recall", "hindsight_x")}

    assert tiers == {"hindsight_recall": "read", "hindsight_x": "write"}


@pytest.mark.parametrize(
    ("mode", "parent", "ends"),
    [
        ("print", None, True),
        ("json", None, True),
        ("rpc", None, False),
        ("tui", None, False),
        ("print", "/s.jsonl", False),
    ],
)
async def test_where_nobody_types_the_session_ends_with_its_turn(
    driver: ExtensionDriver, mode: str, parent: str | None, ends: bool
) -> None:
    told = session("s", file="/s/s.jsonl", parent=parent)
    await driver.adapter.event("session_start", {"cwd": "/w", "session": told, "entries": []})
    actions = await driver.adapter.event("agent_end", {"mode": mode, "entries": []})

    assert list(actions) == ([{"type": "end", "withinMs": 10_000}] if ends else [])


async def test_the_core_is_told_how_long_the_end_may_take(driver: ExtensionDriver) -> None:
    await driver.start("s")
    await driver.adapter.event("session_shutdown", {"reason": "quit", "withinMs": 10_000})

    assert driver.engine.calls[-1] == ("session/end", {"reason": "quit", "withinMs": 10_000})
