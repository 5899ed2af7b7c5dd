"""Who holds a lease: one process, told apart from another that reuses its number."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

Presence = Literal["alive", "dead", "unknown"]


@dataclass(frozen=True, slots=True)
class Owner:
    """A holder of leases.

    Attributes:
        pid: Its process.
        start: When that process started, as the system counts; empty where it does not tell.
        node: The machine, its boot and its process namespace.
        token: Random: two owners in one process differ.
    """

    pid: int
    start: str
    node: str
    token: str

    @classmethod
    def here(cls) -> Owner:
        """A new owner in this process."""
        pid = os.getpid()
        return cls(pid, process_start(pid) or "", _node(), secrets.token_hex(8))

    def __str__(self) -> str:
        return f"{self.pid}|{self.start}|{self.node}|{self.token}"


def presence(owner: str | None) -> Presence:
    """Whether a recorded owner still runs; ``unknown`` where this process cannot see it.

    A number that another program took over is ``dead`` where the start time is known (br/BR-37).
    """
    parts = (owner or "").split("|")
    if len(parts) != 4 or not parts[0].isdigit() or parts[2] != _node():
        return "unknown"
    pid, start = int(parts[0]), parts[1]
    if not _exists(pid):
        return "dead"
    current = process_start(pid)
    if current is None:
        return "dead" if start else "unknown"
    return "alive" if current == start else "dead"


def process_start(pid: int) -> str | None:
    """What tells a running process from a later one of the same number; None when it is gone."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None if Path("/proc/self/stat").exists() else _start_by_ps(pid)
    after_name = stat.rpartition(")")[2].split()
    if len(after_name) < 20 or after_name[0] in "ZX":
        return None
    return after_name[19]


def _start_by_ps(pid: int) -> str | None:
    """For systems without /proc, such as macOS."""
    try:
        listed = subprocess.run(  # noqa: S603 - a fixed program and a number
            ["/bin/ps", "-o", "lstart=", "-p", str(pid)],
            capture_output=True,
            text=True,
            timeout=2,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return " ".join(listed.stdout.split()) or None


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


@cache
def _node() -> str:
    parts = [socket.gethostname().replace("|", "-")]
    try:
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip()[:8])
        parts.append(os.readlink("/proc/self/ns/pid"))
    except OSError:
        pass  # other systems than Linux: the name of the machine must do
    return "/".join(parts)
