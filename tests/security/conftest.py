"""A home, real processes in it, and a search for texts in everything that they left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from hindsight_core.testing.bridge import BridgeProcess


class Place:
    """One person's home with a project."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.memory = folder / "memory"
        self.project = folder / "shop"
        self.inputs = folder / "inputs"
        self.inputs.mkdir()
        (self.project / ".git").mkdir(parents=True)
        self.env = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("HINDSIGHT_", "PI_"))},
            "HOME": str(folder),
            "HINDSIGHT_MEM_HOME": str(self.memory),
            "HINDSIGHT_MEM_BANK__ID": "shop",
        }
        self._stack = stack
        self.said: list[str] = []

    def mem(self, *arguments: object, stdin: str = "", **env: str) -> subprocess.CompletedProcess:
        """A command; what it said is kept."""
        done = subprocess.run(
            [sys.executable, "-P", "-m", "hindsight_core", *map(str, arguments)],
            cwd=self.project, env={**self.env, **env}, input=stdin, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        self.said += [done.stdout, done.stderr]
        return done

    def data(self, *arguments: object, **env: str) -> Any:
        """What a command prints as JSON."""
        done = self.mem(*arguments, "--json", **env)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def bridge(self, session: str = "s1", *, capabilities: Any = None, **env: str) -> BridgeProcess:
        """A bridge with an open session."""
        started = BridgeProcess(env={**self.env, **env}, cwd=self.project)
        bridge = self._stack.enter_context(started)
        bridge.call(
            "initialize",
            {
                "protocol": 1,
                "client": {"name": "test", "version": "1"},
                "cwd": str(self.project),
                "session": {"id": session},
                "capabilities": capabilities or {},
            },
        )
        bridge.call("session/start", {"reason": "startup", "entries": []})
        return bridge

    def file(self, name: str, *records: object) -> Path:
        """A file of JSON lines, outside of the memory's home."""
        file = self.inputs / name
        file.write_text("".join(json.dumps(record) + "\n" for record in records))
        return file

    def found(self, *values: str) -> dict[str, list[str]]:
        """Which of these texts is in which file of the home: in any byte of it."""
        result: dict[str, list[str]] = {}
        for file in sorted(self.memory.rglob("*")):
            if not file.is_file():
                continue
            raw = file.read_bytes()
            held = [value for value in values if value.encode() in raw]
            if held:
                result[str(file.relative_to(self.memory))] = held
        return result


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with ExitStack() as stack:
        yield Place(tmp_path, stack)
