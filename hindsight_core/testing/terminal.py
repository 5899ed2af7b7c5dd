"""A real terminal for tests: a program under tmux, keys in, the screen out."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from uuid import uuid4

WAIT_S = 30.0
# How long the end of a typed text is waited for, and how many letters of it.
_ECHO_S, _ECHOED = 3.0, 6
_POLL_S = 0.05


class NoTmux(Exception):
    """tmux is not installed here."""


class Terminal:
    """One program in a terminal of its own; a server of tmux that nobody else uses.

    Args:
        command: The program and its arguments.
        cwd: Its folder.
        env: Its whole environment.
        size: Columns and rows.

    Raises:
        NoTmux: So that a test can skip.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        size: tuple[int, int] = (100, 34),
    ) -> None:
        program = shutil.which("tmux")
        if program is None:
            raise NoTmux("tmux is not installed here")
        self._tmux = (program, "-L", f"hindsight-{uuid4().hex[:8]}", "-f", "/dev/null")
        # Old ones need a language with wide characters, and a name that curses knows.
        given = {**env, "TERM": "screen-256color", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}
        pairs = [f"{name}={value}" for name, value in given.items()]
        inner = shlex.join(["env", "-i", *pairs, *command])
        width, height = size
        self._run(
            "new-session", "-d", "-x", str(width), "-y", str(height), "-c", str(cwd),
            f"{inner}; echo exit-code=$?; sleep 600",
        )  # fmt: skip

    def press(self, *keys: str) -> None:
        """Keys by tmux's names: ``Tab``, ``Enter``, ``M-h`` ..."""
        for key in keys:
            self._run("send-keys", key)

    def type(self, text: str) -> None:
        """Text as it is; returns once its end is seen, or after a moment where it is not shown.

        A program that is still busy may take a key right behind it for a part of the text.
        """
        self._run("send-keys", "-l", text)
        end = time.monotonic() + _ECHO_S
        while time.monotonic() < end and text[-_ECHOED:] not in "\n".join(self.screen()):
            time.sleep(_POLL_S)
        time.sleep(_POLL_S)

    def screen(self) -> list[str]:
        """The lines that are seen, without blank ones at the end."""
        lines = [line.rstrip() for line in self._run("capture-pane", "-p").split("\n")]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    def until(self, wanted: str | Callable[[list[str]], bool]) -> list[str]:
        """The screen once it holds a text, or fulfils a condition."""
        end = time.monotonic() + WAIT_S
        while True:
            lines = self.screen()
            if wanted in "\n".join(lines) if isinstance(wanted, str) else wanted(lines):
                return lines
            if time.monotonic() > end:
                raise AssertionError(f"{wanted!r} is not on the screen:\n" + "\n".join(lines))
            time.sleep(_POLL_S)

    def resize(self, width: int, height: int) -> None:
        """Another size."""
        self._run("resize-window", "-x", str(width), "-y", str(height))

    def close(self) -> None:
        """End the program and its terminal."""
        self._run("kill-server")

    def _run(self, *arguments: str) -> str:
        done = subprocess.run(  # noqa: S603 - our own command
            [*self._tmux, *arguments], capture_output=True, text=True, timeout=30, check=False
        )
        if done.returncode:
            raise AssertionError(f"tmux {arguments[0]}: {done.stderr.strip()}")
        return done.stdout
