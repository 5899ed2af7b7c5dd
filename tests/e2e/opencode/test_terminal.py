"""The slash command in opencode's terminal, in a pty."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

WAIT_S = 50
_ESCAPES = re.compile(rb"\x1b\[[0-9;?]*[a-zA-Z]|\x1b\][^\x07]*\x07|\x1b[()][0-9A-B]")
# What a terminal answers when it is asked where its cursor is, and what it can do.
ANSWERS = {b"\x1b[6n": b"\x1b[1;1R", b"\x1b[c": b"\x1b[?62;c"}


class Terminal:
    """A program in a pty: what it draws, and keys for it."""

    def __init__(self, command: list[str], *, cwd: str, env: dict[str, str]) -> None:
        self.drawn = b""
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            os.execve(command[0], command, {**env, "TERM": "xterm-256color"})
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 140, 0, 0))

    def text(self) -> str:
        """All that was drawn, without escapes."""
        return _ESCAPES.sub(b" ", self.drawn).decode("utf-8", "ignore")

    def until(self, holds: Callable[[], object]) -> None:
        """Draw until something is so."""
        end = time.monotonic() + WAIT_S
        while not holds():
            assert time.monotonic() < end, self.text()[-2000:]
            self._pump()

    def type(self, keys: str) -> None:
        """Keys one by one, as a person types."""
        for key in keys:
            os.write(self._fd, key.encode())
            self._pump()

    def close(self) -> None:
        """SIGTERM, and its end."""
        os.kill(self.pid, signal.SIGTERM)
        end = time.monotonic() + WAIT_S
        while os.waitpid(self.pid, os.WNOHANG) == (0, 0):
            if time.monotonic() > end:
                os.kill(self.pid, signal.SIGKILL)
            self._pump()
        os.close(self._fd)

    def _pump(self) -> None:
        ready, _, _ = select.select([self._fd], [], [], 0.1)
        if not ready:
            return
        try:
            new = os.read(self._fd, 65536)
        except OSError:
            return
        self.drawn += new
        for question, answer in ANSWERS.items():
            if question in new:
                os.write(self._fd, answer)


@pytest.fixture
def terminal(opencode: Any) -> Iterator[Callable[..., Terminal]]:
    opened: list[Terminal] = []

    def start(*arguments: str) -> Terminal:
        command = [opencode.program, *arguments]
        opened.append(Terminal(command, cwd=str(opencode.project), env=opencode.env))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


@pytest.mark.timeout(180)
@pytest.mark.spec("oc/O-TOOL-4")
def test_the_session_is_kept_on_demand(opencode: Any, terminal: Any) -> None:
    block = {"bankId": "b1", "retainEveryNTurns": 50}
    opencode.install(options={"profile": "opencode-hindsight"}, agents={"build": block})
    screen = terminal()
    screen.until(lambda: "Ask anything" in screen.text())
    screen.type("/hindsight-retain")
    screen.until(lambda: "Keep this session" in screen.text())
    screen.type("\r")
    screen.until(lambda: "Open a session first" in screen.text())
    screen.type("The gateway listens on port 8443.")
    screen.type("\r")
    screen.until(lambda: opencode.is_on_disk("Understood."))
    assert opencode.documents("b1") == {}, "not due yet"
    seen = screen.text().count("Keep this session")

    screen.type("/hindsight-retain")
    screen.until(lambda: screen.text().count("Keep this session") > seen)
    screen.type("\r")
    screen.until(lambda: "memorizing" in screen.text() or "nothing" in screen.text())

    opencode.until(lambda: opencode.documents("b1"))
    (text,) = opencode.documents("b1").values()
    assert text.startswith("User: The gateway listens on port 8443.\n\nAssistant: Understood.")
