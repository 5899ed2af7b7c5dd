"""What every host adapter must do: subclass `HostContract`, give it ``driver`` and ``host``."""

# A suite of tests: asserts are its purpose, names are its documentation.
# ruff: noqa: D102, S101

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import pytest

from hindsight_core.engine.params import complaint
from hindsight_core.errors import ConfigError
from hindsight_core.host import Host, HostAdapter, HostCapabilities, InstallPlan, InstallRequest
from hindsight_core.testing.host_engine import FakeEngine, block

__all__ = ["FakeEngine", "HostContract", "HostDriver", "block", "carry_out"]

FIRST = "Which port does the gateway use?"
SECOND = "And the scheduler?"
GATEWAY = '<hindsight-memory kind="recall">\n- gateway 8443\n</hindsight-memory>'
SCHEDULER = '<hindsight-memory kind="recall">\n- scheduler 9000\n</hindsight-memory>'


class HostDriver(Protocol):
    """Plays the host program: sends the adapter what its shim would send.

    Attributes:
        engine: What the adapter talks to.
        adapter: The adapter under test.
    """

    engine: FakeEngine
    adapter: HostAdapter

    async def start(self, session_id: str) -> None:
        """A session begins."""
        ...

    async def ask(self, prompt: str) -> list[str]:
        """The user says something; memory's texts in the first request to the model."""
        ...

    async def again(self) -> list[str]:
        """Memory's texts in the next request of the same turn, after a tool."""
        ...

    async def done(self) -> None:
        """The turn ends."""
        ...

    async def give_up(self, prompt: str) -> None:
        """The user says something and aborts it before the first request is answered."""
        ...

    async def compact(self) -> None:
        """The host compacts, and has compacted."""
        ...

    async def quit(self) -> None:
        """The session ends because the user quits."""
        ...


def carry_out(plan: InstallPlan) -> None:
    """Write a plan's files, as ``hindsight-mem install`` does."""
    for change in plan.changes:
        if change.after is None:
            change.path.unlink(missing_ok=True)
        else:
            change.path.parent.mkdir(parents=True, exist_ok=True)
            change.path.write_text(change.after, encoding="utf-8")


class HostContract:
    """Rules of protocol.md that an adapter must keep, whatever its host is.

    A subclass gives two fixtures: ``driver``, a `HostDriver` with a fresh adapter over a
    `FakeEngine`, and ``host``, the entry point. ``settings`` is the host's configuration file
    below a home, with text that a user might have there; None where there is none.
    """

    settings: tuple[str, str] | None = None
    environment: Mapping[str, str] = {}

    def test_it_is_an_adapter(self, driver: HostDriver, host: Host) -> None:
        assert isinstance(driver.adapter, HostAdapter)
        assert isinstance(host, Host)
        assert host.name == driver.adapter.name
        assert isinstance(host.adapter(driver.engine), HostAdapter)

    def test_its_limits_are_no_higher_than_the_cores(self, driver: HostDriver) -> None:
        limits = driver.adapter.limits
        assert 0 < limits.turn_start_ms <= 30_000
        assert 0 < limits.turn_end_ms <= 1_000
        assert 0 < limits.compact_ms <= 5_000
        assert 0 < limits.session_end_ms <= 60_000

    async def test_initialize_comes_first_and_names_the_session(self, driver: HostDriver) -> None:
        await driver.start("s-1")

        names = [method for method, _ in driver.engine.calls]
        method, params = driver.engine.calls[0]
        assert method == "initialize"
        assert params["session"]["id"] == "s-1"
        assert Path(params["cwd"]).is_absolute()
        assert HostCapabilities.from_wire(params["capabilities"]).blocks in (
            "persist",
            "replay",
            "turn",
        )
        assert names == ["initialize", "session/start"]

    async def test_every_call_has_the_parameters_of_the_protocol(self, driver: HostDriver) -> None:
        await driver.start("s-1")
        await driver.ask(FIRST)
        await driver.done()
        await driver.compact()
        await driver.quit()

        for method, params in driver.engine.calls:
            assert complaint(method, params) is None

    async def test_a_prompt_is_one_turn_and_its_block_is_in_every_request_once(
        self, driver: HostDriver
    ) -> None:
        await driver.start("s-1")
        driver.engine.blocks = [block(GATEWAY)]

        shown = [await driver.ask(FIRST), await driver.again(), await driver.again()]

        starts = [params for method, params in driver.engine.calls if method == "turn/start"]
        assert [params["prompt"] for params in starts] == [FIRST]
        assert shown == [[GATEWAY], [GATEWAY], [GATEWAY]]

    async def test_an_earlier_block_stays_at_its_place(self, driver: HostDriver) -> None:
        await driver.start("s-1")
        driver.engine.blocks = [block(GATEWAY)]
        await driver.ask(FIRST)
        await driver.done()
        driver.engine.blocks = [block(SCHEDULER)]

        assert await driver.ask(SECOND) == [GATEWAY, SCHEDULER]

    async def test_without_a_block_nothing_is_added(self, driver: HostDriver) -> None:
        await driver.start("s-1")

        assert await driver.ask(FIRST) == []

    async def test_a_turn_end_reports_the_path(self, driver: HostDriver) -> None:
        await driver.start("s-1")
        await driver.ask(FIRST)
        await driver.done()

        assert driver.engine.said("turn/end")[-1:] == [FIRST]

    async def test_a_compaction_takes_the_blocks_and_is_told_before_and_after(
        self, driver: HostDriver
    ) -> None:
        await driver.start("s-1")
        driver.engine.blocks = [block(GATEWAY)]
        await driver.ask(FIRST)
        await driver.done()
        await driver.compact()

        names = [method for method, _ in driver.engine.calls]
        assert names.index("compact/before") < names.index("compact/after")
        assert await driver.ask(SECOND) == []

    async def test_an_aborted_turn_leaves_nothing(self, driver: HostDriver) -> None:
        await driver.start("s-1")
        driver.engine.blocks = [block(GATEWAY)]
        driver.engine.hold = asyncio.Event()
        with suppress(asyncio.CancelledError):
            await driver.give_up(FIRST)
        driver.engine.hold = None

        assert driver.engine.cancelled + driver.engine.taken_back == 1
        driver.engine.blocks = []
        assert await driver.ask(SECOND) == []

    async def test_quitting_ends_the_session_last(self, driver: HostDriver) -> None:
        await driver.start("s-1")
        await driver.quit()

        method, params = driver.engine.calls[-1]
        assert (method, params["reason"]) == ("session/end", "quit")

    @pytest.mark.parametrize("state", ["off", "dormant", "tools-only"])
    async def test_it_goes_on_where_memory_does_nothing(
        self, driver: HostDriver, state: str
    ) -> None:
        driver.engine.state = state
        await driver.start("s-1")
        shown = await driver.ask(FIRST)
        await driver.done()
        await driver.compact()
        await driver.quit()

        assert shown == []

    async def test_unknown_events_do_nothing(self, driver: HostDriver) -> None:
        assert list(await driver.adapter.event("no such event", {"a": 1})) == []

    def test_other_answers_pass_through(self, driver: HostDriver) -> None:
        assert driver.adapter.answer("host/models", {"models": []}) == {"models": []}

    def test_install_twice_changes_nothing_more(self, host: Host, tmp_path: Path) -> None:
        request = self._request(tmp_path)
        carry_out(host.install(request))

        assert host.install(request).changes == ()

    def test_uninstall_leaves_what_is_foreign_as_it_was(self, host: Host, tmp_path: Path) -> None:
        request = self._request(tmp_path)
        before = _files(tmp_path)
        carry_out(host.install(request))
        assert host.install(request).changes == ()
        carry_out(host.uninstall(request))

        assert _files(tmp_path) == before
        assert host.uninstall(request).changes == ()

    def test_a_file_that_cannot_be_parsed_is_named_and_left(
        self, host: Host, tmp_path: Path
    ) -> None:
        if self.settings is None:
            pytest.skip("this host has no configuration file")
        request = self._request(tmp_path)
        file = tmp_path / "home" / self.settings[0]
        file.write_text("{ this is not it")

        with pytest.raises(ConfigError, match=r"line \d") as refused:
            host.install(request)

        assert str(file) in str(refused.value)
        assert file.read_text() == "{ this is not it"

    def _request(self, folder: Path) -> InstallRequest:
        home = folder / "home"
        home.mkdir(exist_ok=True)
        if self.settings is not None:
            name, text = self.settings
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(text)
        return InstallRequest(
            env={"HOME": str(home), **self.environment},
            shims=folder / "shims",
            command=("python", "-m", "hindsight_core", "bridge"),
            bridge_env={"HINDSIGHT_MEM_HOME": str(folder / "memory")},
        )


def _files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
