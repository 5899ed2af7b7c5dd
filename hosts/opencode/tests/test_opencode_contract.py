"""The opencode adapter keeps the rules of every host."""

from __future__ import annotations

import pytest
from hindsight_host_opencode import host as opencode_host

from hindsight_core.testing.hosts import HostContract


class TestOpencode(HostContract):
    settings = (
        ".config/opencode/opencode.json",
        '{\n  // mine\n  "theme": "dark",\n  "plugin": [\n    "/mine.js", // here too\n  ],\n}\n',
    )

    @pytest.fixture
    def host(self) -> object:
        return opencode_host
