"""Where the daemon of a home is found. Imported by every hook: the standard library's least."""

from __future__ import annotations

import os
import sys

SOCKET = "daemon.sock"
LOCK = "daemon.lock"
TOKEN = "daemon.token"  # noqa: S105 - the name of a file
MAGIC = b"hindsight-hook/1"
# First byte of the daemon's answers: it is there, here is the reply, ask somebody else.
ALIVE, REPLY, REFUSED = b".", b"+", b"-"


def home(env: dict[str, str] | os._Environ[str]) -> str:
    """The home folder, as `hindsight_core.config.paths.Paths.from_env` finds it."""
    given = env.get("HINDSIGHT_MEM_HOME", "").strip()
    user = env.get("HOME", "").strip() or os.path.expanduser("~")
    if given:
        if given == "~" or given.startswith(("~/", "~\\")):
            return os.path.join(user, given[2:])
        return os.path.abspath(given)
    if sys.platform == "darwin":
        return os.path.join(user, "Library", "Application Support", "hindsight-mem")
    data = env.get("XDG_DATA_HOME", "").strip() or os.path.join(user, ".local", "share")
    return os.path.join(data, "hindsight-mem")


def frame(fields: list[bytes], body: bytes) -> bytes:
    """A request: its fields, and behind them what the agent wrote on stdin."""
    header = b"\0".join(fields)
    return len(header).to_bytes(8, "big") + header + len(body).to_bytes(8, "big") + body
