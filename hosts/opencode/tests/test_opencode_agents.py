"""What the host's configuration says about agents, and whether any has memory."""

from __future__ import annotations

from typing import Any

import pytest
from hindsight_host_opencode.adapter import OpencodeAdapter

from hindsight_core.testing.hosts import FakeEngine


class States(FakeEngine):
    """Answers ``initialize`` by agent."""

    def __init__(self) -> None:
        super().__init__()
        self.states: dict[str | None, str] = {}
        self.warnings: tuple[str, ...] = ()

    async def call(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method == "initialize":
            self.state = self.states.get(params["session"].get("agent"), "dormant")
        result = await super().call(method, params)
        if method == "initialize":
            result["warnings"] = list(self.warnings)
        return result


@pytest.fixture
def instance() -> Any:
    class Instance:
        def __init__(self) -> None:
            self.engines: list[States] = []
            self.adapter = OpencodeAdapter(self._another)
            self.states: dict[str | None, str] = {}
            self.warnings: tuple[str, ...] = ()

        def _another(self) -> FakeEngine:
            engine = States()
            engine.states, engine.warnings = self.states, self.warnings
            self.engines.append(engine)
            return engine

        async def configure(self, **payload: object) -> list[dict[str, Any]]:
            given = {"directory": "/srv/shop", "worktree": "/srv/shop", **payload}
            return list(await self.adapter.event("config", given))

        @property
        def opened(self) -> list[dict[str, Any]]:
            return [p for e in self.engines for name, p in e.calls if name == "initialize"]

    return Instance()


BLOCKS = {"build": {"bankId": "b"}, "plan": {"enabled": False}}


@pytest.mark.spec("oc/O-CFG-1", "oc/O-CFG-6")
async def test_options_and_agents_blocks_are_the_configuration(instance: Any) -> None:
    instance.states = {"build": "active"}

    actions = await instance.configure(options={"applyMode": "opt-in"}, agents=BLOCKS)

    (opened,) = instance.opened
    assert opened["config"] == {"applyMode": "opt-in", "agents": BLOCKS}
    assert opened["session"]["agent"] == "build" and opened["session"]["ephemeral"]
    assert [a["type"] for a in actions] == ["limits", "tools"]
    assert instance.engines[0].calls[-1] == ("session/end", {"reason": "reload"})


@pytest.mark.spec("oc/O-CFG-6")
async def test_a_session_gets_the_configuration_of_its_directory(instance: Any) -> None:
    instance.states = {"build": "active"}
    await instance.configure(options={"applyMode": "opt-in"}, agents=BLOCKS)
    info = {"id": "s", "agent": "other", "directory": "/srv/shop"}
    await instance.adapter.event("session.created", {"directory": "/srv/shop", "session": info})
    await instance.adapter.event("session.created", {"directory": "/else", "session": {"id": "t"}})

    opened = instance.opened[-1]
    assert opened["config"] == {"applyMode": "opt-in", "agents": BLOCKS}
    assert opened["session"] == {"id": "s", "agent": "other"}


@pytest.mark.spec("oc/O-CFG-1")
async def test_where_no_agent_has_memory_there_are_no_hooks_and_one_line(instance: Any) -> None:
    actions = await instance.configure(options={}, agents={})

    assert [a["type"] for a in actions] == ["log", "off"]
    assert actions[0]["level"] == "error" and "dormant" in actions[0]["text"]


@pytest.mark.spec("oc/O-CFG-5")
async def test_an_agent_without_a_bank_is_told_once(instance: Any) -> None:
    instance.states = {"plan": "active"}
    agents = {"build": {}, "plan": {"bankId": "p"}}

    first = await instance.configure(agents=agents)
    second = await instance.configure(agents=agents)

    (line,) = [a for a in first if a["type"] == "log"]
    assert "agent build" in line["text"] and line["level"] == "warn"
    assert [a for a in second if a["type"] == "log"] == []


@pytest.mark.spec("oc/O-EV-14")
@pytest.mark.parametrize(
    ("worktree", "expected"),
    [("/srv/shop", "/srv/shop"), ("", "/srv/shop/web"), ("/", "/srv/shop/web")],
)
async def test_the_project_is_the_worktree_unless_there_is_none(
    instance: Any, worktree: str, expected: str
) -> None:
    instance.states = {None: "active"}
    where = {"directory": "/srv/shop/web", "worktree": worktree}
    await instance.configure(**where)
    info = {"id": "s", "agent": "build", "directory": "/srv/shop/web"}
    await instance.adapter.event("session.created", {**where, "session": info})

    assert [opened["cwd"] for opened in instance.opened] == [expected, expected]
