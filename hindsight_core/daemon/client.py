"""``hindsight-mem hook HOST EVENT``: asks the daemon, with nothing but the standard library.

Whatever happens, the agent's prompt goes through: exit 0, one JSON object on stdout, nothing on
stderr. Without a daemon one is started; where none can be, the answer is made in this process.
"""

from __future__ import annotations

import os

from hindsight_core.daemon.place import ALIVE, LOCK, MAGIC, REPLY, SOCKET, TOKEN, frame, home

NOTHING = b"{}"
MAX_INPUT = 64 * 1024 * 1024
_SILENT_S = 2.0
_ALIVE_S = 3.0
_REPLY_S = 40.0
_START_S = 2.0
_STEP_S = 0.01


def main(arguments: list[str]) -> None:
    """Answer one hook; does not return."""
    answer = NOTHING
    out = _mute()
    try:
        answer = _answer(arguments) or NOTHING
    except BaseException:  # noqa: S110 - no failure of ours is the agent's business
        pass
    _write(out, answer)
    # Nothing is left to do: an interpreter that is taken down politely costs milliseconds.
    os._exit(0)


def _mute() -> int:
    """Keep stdout for the answer alone; what libraries say goes nowhere."""
    try:
        out = os.dup(1)
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
    except OSError:
        return 1
    return out


def _write(out: int, answer: bytes) -> None:
    try:
        while answer:
            answer = answer[os.write(out, answer) :]
    except OSError:
        pass


def _answer(arguments: list[str]) -> bytes | None:
    # Inside a process that memory started, hooks do nothing (br/BR-04).
    if os.environ.get("HINDSIGHT_MEM_INSIDE") or len(arguments) < 2:
        return None
    body = _stdin()
    if not body.strip():
        return None
    host, event = arguments[:2]
    cwd = _cwd()
    if os.environ.get("HINDSIGHT_MEM_DAEMON", "").strip().lower() not in ("off", "0", "false"):
        answer = _by_daemon(host, event, body, cwd)
        if answer is not None:
            return answer
    from hindsight_core.daemon.local import answer_here

    return answer_here(host, event, body, cwd=cwd)


def _stdin() -> bytes:
    """What the agent wrote; an agent that does not close its end is not waited for."""
    import select

    pieces, size = [], 0
    while size < MAX_INPUT and select.select([0], [], [], _SILENT_S)[0]:
        piece = os.read(0, 1 << 20)
        if not piece:
            break
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)


def _cwd() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""


def _by_daemon(host: str, event: str, body: bytes, cwd: str) -> bytes | None:
    """The daemon's answer; None when somebody else must give one."""
    place = home(os.environ)
    connection = _connect(place)
    if connection is None:
        from hindsight_core.daemon.start import start

        connection = _await(place, start(place))
    if connection is None:
        return None
    from hindsight_core import __version__

    fields = [MAGIC, _token(place), __version__.encode(), *map(os.fsencode, (host, event, cwd))]
    fields += [name + b"=" + value for name, value in os.environb.items()]
    try:
        connection.settimeout(_ALIVE_S)
        # Left open behind it: the daemon sees by that whether anybody still waits.
        connection.sendall(frame(fields, body))
        if connection.recv(1) != ALIVE:
            return None
        connection.settimeout(_REPLY_S)
        pieces = []
        while piece := connection.recv(1 << 16):
            pieces.append(piece)
    except OSError:
        return None
    finally:
        connection.close()
    reply = b"".join(pieces)
    return reply[1:] if reply[:1] == REPLY else None


def _connect(place: str):  # type: ignore[no-untyped-def]  # noqa: ANN202 - socket is imported late
    """A connection to the user's own daemon, or None."""
    path = os.path.join(place, SOCKET)
    try:
        if os.lstat(path).st_uid != os.geteuid():
            return None
    except OSError:
        return None
    try:
        # What `socket` wraps: the wrapper's import is a third of a hook's whole time.
        from _socket import AF_UNIX, socket
    except ImportError:
        from socket import AF_UNIX, socket  # type: ignore[assignment]
    connection = socket(AF_UNIX)
    connection.settimeout(_ALIVE_S)
    try:
        if len(os.fsencode(path)) < 100:
            connection.connect(path)
        else:
            _connect_inside(connection, place)
    except OSError:
        connection.close()
        return None
    return connection


def _connect_inside(connection, place: str) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    """A socket's address holds about a hundred bytes: from inside its folder it is short."""
    before = os.open(".", os.O_RDONLY)
    try:
        os.chdir(place)
        connection.connect(SOCKET)
    finally:
        os.fchdir(before)
        os.close(before)


def _await(place: str, starting: bool):  # type: ignore[no-untyped-def]  # noqa: ANN202, FBT001
    """A connection to the daemon that is just starting, while its lock is held."""
    import time

    end = time.monotonic() + _START_S
    while starting and time.monotonic() < end:
        time.sleep(_STEP_S)
        connection = _connect(place)
        if connection is not None:
            return connection
        starting = _is_held(place)
    return None


def _is_held(place: str) -> bool:
    import fcntl

    try:
        lock = os.open(os.path.join(place, LOCK), os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(lock)
    return False


def _token(place: str) -> bytes:
    try:
        with open(os.path.join(place, TOKEN), "rb") as file:
            return file.read(200).strip()
    except OSError:
        return b""
