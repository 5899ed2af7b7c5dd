"""Starts the daemon: born with the lock in its hands, so that there is never a second one."""

from __future__ import annotations

import os
import subprocess
import sys

from hindsight_core.daemon.place import LOCK

# What belongs to one session's environment is sent with each request, never inherited.
_OURS = ("HINDSIGHT_", "PI_HINDSIGHT_")


def start(place: str) -> bool:
    """Whether a daemon is starting now, by this process or by another one.

    The lock is taken here and inherited: of any number of hooks exactly one starts a daemon, and
    the lock ends with the daemon, however it ends (br/BR-37).
    """
    try:
        import fcntl
    except ImportError:  # a system without Unix locks: every hook answers for itself
        return False
    try:
        os.makedirs(place, mode=0o700, exist_ok=True)
        lock = os.open(os.path.join(place, LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return True
    try:
        _spawn(place, lock)
    except OSError:
        return False
    finally:
        os.close(lock)
    return True


def _spawn(place: str, lock: int) -> None:
    env = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    env["HINDSIGHT_MEM_HOME"] = place
    for name in ("HINDSIGHT_MEM_DAEMON_IDLE_S", "HINDSIGHT_MEM_TRACE"):
        if name in os.environ:
            env[name] = os.environ[name]
    subprocess.Popen(  # noqa: S603 - this very interpreter
        [sys.executable, "-P", "-m", "hindsight_core.daemon", place, str(lock)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(lock,),
        start_new_session=True,
        cwd=place,
        env=env,
    )
