"""Fixtures of every test: no network, an empty home, nothing of the person who runs the tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from hindsight_core.testing.network import network_guard

OURS = ("HINDSIGHT_", "PI_HINDSIGHT_", "OPENAI_", "ANTHROPIC_", "OLLAMA_")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the slow suites to ``.ci/run full``, and real servers to ``.ci/run``."""
    full = bool(os.environ.get("HINDSIGHT_TEST_SLOW"))
    servers = full or bool(os.environ.get("HINDSIGHT_TEST_SERVERS"))
    slow = pytest.mark.skip(reason="slow: runs in .ci/run full")
    server = pytest.mark.skip(reason="slow: needs a server that .ci/run installs and starts")
    for item in items:
        if item.get_closest_marker("slow") and not full:
            item.add_marker(slow)
        if item.get_closest_marker("server") and not servers:
            item.add_marker(server)


@pytest.fixture
def loopback() -> None:
    """Ask for this where a test talks to a server that it started itself."""


@pytest.fixture(autouse=True)
def _no_network(request: pytest.FixtureRequest) -> Iterator[None]:
    with network_guard(loopback="loopback" in request.fixturenames):
        yield


@pytest.fixture(autouse=True)
def _empty_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Configuration, banks and state of every test are its own.

    It asks for no ``monkeypatch``: so it ends after that, and sees what a test leaves behind.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(OURS)]:
            patch.delenv(name)
        home = tmp_path_factory.mktemp("home")
        patch.setenv("HINDSIGHT_MEM_HOME", str(home / "memory"))
        patch.setenv("HOME", str(home))
        patch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
        patch.setenv("XDG_DATA_HOME", str(home / ".local/share"))
        before = set(os.environ)
        yield home
        leaked = {name for name in set(os.environ) - before if name.startswith(OURS)}
        assert not leaked, f"the test left {leaked} in the environment"
