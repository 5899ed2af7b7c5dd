"""Fixtures of every test: no network, unless a test asks for this machine's own ports."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hindsight_core.testing.network import network_guard


@pytest.fixture
def loopback() -> None:
    """Ask for this where a test talks to a server that it started itself."""


@pytest.fixture(autouse=True)
def _no_network(request: pytest.FixtureRequest) -> Iterator[None]:
    with network_guard(loopback="loopback" in request.fixturenames):
        yield
