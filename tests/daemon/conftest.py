"""A home with a bank, hooks as processes, and no daemon that outlives its test."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

FACT = "The API gateway listens on port 8443 behind nginx."


class Hooks:
    """Runs ``hindsight-mem hook`` as an agent would."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "memory"
        self.project = folder / "shop"
        (self.project / ".git").mkdir(parents=True)
        self.env = {
            **{k: v for k, v in os.environ.items() if "HINDSIGHT_" not in k},
            "HOME": str(folder),
            "TMPDIR": str(folder),
            "HINDSIGHT_MEM_HOME": str(self.home),
            "HINDSIGHT_MEM_DAEMON_IDLE_S": "30",
        }

    def mem(self, *arguments: str) -> str:
        """Another command; its stdout."""
        done = subprocess.run(
            [sys.executable, "-P", "-m", "hindsight_core", *arguments],
            cwd=self.project, env=self.env, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout

    def learn(self, *facts: str) -> None:
        """Activate memory, and put facts into the project's bank."""
        self.mem("config", "set", "bank.id", "auto")
        file = self.project.parent / "facts.jsonl"
        file.write_text("".join(json.dumps({"text": fact}) + "\n" for fact in facts))
        self.mem("bank", "import", str(file))

    def start(self, event: str, payload: object, **env: str) -> subprocess.Popen[bytes]:
        """A hook that has got its input and runs."""
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "hindsight_core", "hook", "claude-code", event],
            cwd=self.project, env={**self.env, **env},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert process.stdin
        process.stdin.write(payload if isinstance(payload, bytes) else json.dumps(payload).encode())
        process.stdin.close()
        process.stdin = None
        return process

    def run(self, event: str, payload: object, **env: str) -> dict[str, Any]:
        """A hook's reply; it ends well and says nothing else."""
        process = self.start(event, payload, **env)
        out, err = process.communicate(timeout=50)
        assert (process.returncode, err) == (0, b"")
        reply: dict[str, Any] = json.loads(out)
        return reply

    def prompt(self, session: str = "s-1", **more: object) -> dict[str, Any]:
        """A prompt's payload."""
        ask = "Which port does the API gateway listen on?"
        return {"session_id": session, "cwd": str(self.project), "prompt": ask, **more}

    def daemon(self) -> int | None:
        """The daemon's process; None when there is none."""
        try:
            pid = int((self.home / "daemon.lock").read_text())
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except (OSError, ValueError):
            return None
        return pid if b"hindsight_core.daemon" in command else None

    def daemons(self) -> list[int]:
        """Every daemon process of this home, the one in charge or not."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"hindsight_core.daemon" in words and str(self.home).encode() in words:
                found.append(int(folder.name))
        return found

    def until(self, found: Callable[[], object], seconds: float = 15) -> bool:
        """Whether something becomes true."""
        end = time.monotonic() + seconds
        while not found() and time.monotonic() < end:
            time.sleep(0.05)
        return bool(found())


@pytest.fixture
def hooks(tmp_path: Path) -> Iterator[Hooks]:
    made = Hooks(tmp_path)
    yield made
    for pid in made.daemons():
        os.kill(pid, signal.SIGKILL)
