"""The resident process: answers hooks on a private socket until nobody needs it."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import secrets
import signal
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hindsight_core import __version__
from hindsight_core.daemon.place import ALIVE, LOCK, MAGIC, REFUSED, REPLY, SOCKET, TOKEN

if TYPE_CHECKING:
    from hindsight_core.daemon.sessions import LiveSessions

IDLE_S = 300.0
_TICK_S = 2.0
_CLOSE_S = 10.0
_READ_S = 10.0
_BACKLOG = 1024
_MAX_HEADER = 8 * 1024 * 1024
_MAX_BODY = 64 * 1024 * 1024
logger = logging.getLogger("hindsight_core.daemon")


class Daemon:
    """One home's daemon.

    Args:
        place: The home; it is the working directory too, so that the socket's name is short.
        lock: A descriptor that holds the lock, inherited from the hook that started it.
        idle_s: Leaves after that long without a session.
    """

    def __init__(self, place: Path, *, lock: int, idle_s: float = IDLE_S) -> None:
        self._place = place
        self._lock = lock
        self._idle_s = idle_s
        self._token = secrets.token_hex(16).encode()
        self._sessions: LiveSessions | None = None
        self._server: asyncio.Server | None = None
        self._bound: tuple[int, int] | None = None
        self._requests = 0
        self._code = _fingerprint()
        self._leaving = asyncio.Event()
        self._heard = 0.0

    async def run(self) -> None:
        """Serve until idle, replaced, or told to go."""
        self._heard = _now()
        await self._bind()
        loop = asyncio.get_running_loop()
        for name in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(name, self._leaving.set)
        # The first hook is waiting already; the others find the imports done.
        loop.call_soon(self._hub)
        while not self._leaving.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._leaving.wait(), _TICK_S)
            await self._tick()
        await self._close()

    async def _bind(self) -> None:
        # For people and ``doctor``; who the daemon is says the lock alone.
        os.truncate(self._lock, 0)
        os.pwrite(self._lock, f"{os.getpid()}\n".encode(), 0)
        _write_private(self._place / TOKEN, self._token)
        with suppress(FileNotFoundError):
            os.unlink(SOCKET)
        before = os.umask(0o177)
        try:
            self._server = await asyncio.start_unix_server(
                self._serve, path=SOCKET, backlog=_BACKLOG
            )
        finally:
            os.umask(before)
        self._bound = _identity(SOCKET)

    def _hub(self) -> LiveSessions:
        if self._sessions is None:
            from hindsight_core.config.paths import Paths
            from hindsight_core.daemon.sessions import LiveSessions

            self._sessions = LiveSessions(Paths(self._place).state)
            # What was imported stays for good; from here on garbage is collected again.
            gc.freeze()
            gc.enable()
        return self._sessions

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._requests += 1
        self._heard = _now()
        try:
            writer.write(ALIVE)
            async with asyncio.timeout(_READ_S):
                fields, body = await _request(reader)
            answer = await _unless_gone(self._answer(fields, body), reader)
            writer.write(answer)
            await writer.drain()
        except (OSError, ValueError, TimeoutError, asyncio.IncompleteReadError) as error:
            logger.info("a hook went away: %s", error)
        finally:
            self._requests -= 1
            self._heard = _now()
            writer.close()

    async def _answer(self, fields: list[bytes], body: bytes) -> bytes:
        magic, token, version, *rest = fields
        if magic != MAGIC or not secrets.compare_digest(token, self._token):
            return REFUSED
        if self._leaving.is_set():
            return REFUSED
        if _is_newer(version.decode(errors="replace"), __version__):
            # The hook belongs to an upgraded program: it starts a daemon of its own kind.
            self._leaving.set()
            return REFUSED
        host, event, cwd = (os.fsdecode(field) for field in rest[:3])
        pairs = (os.fsdecode(field).partition("=") for field in rest[3:])
        env = {name: value for name, _, value in pairs}
        return REPLY + await self._hub().answer(host, event, body, cwd=cwd, env=env)

    async def _tick(self) -> None:
        if self._is_replaced() or _fingerprint() != self._code:
            self._leaving.set()
            return
        if _identity(SOCKET) != self._bound:
            # Somebody tidied up: nobody could find us any more.
            if self._server is not None:
                self._server.close()
            await self._bind()
        busy = self._requests > 0
        if self._sessions is not None:
            await self._sessions.tidy()
            busy = busy or self._sessions.busy
        if busy:
            self._heard = _now()
        elif _now() - self._heard > self._idle_s:
            self._leaving.set()

    def _is_replaced(self) -> bool:
        """Whether the home, or the lock that makes this the only daemon, is gone."""
        try:
            held, named = os.fstat(self._lock), (self._place / LOCK).stat()
        except OSError:
            return True
        return (held.st_dev, held.st_ino) != (named.st_dev, named.st_ino)

    async def _close(self) -> None:
        if self._server is not None:
            self._server.close()
        if _identity(SOCKET) == self._bound:
            with suppress(OSError):
                os.unlink(SOCKET)
        # From here on another one may start; this one only makes durable what it holds.
        os.close(self._lock)
        end = _now() + _CLOSE_S
        while self._requests and _now() < end:
            await asyncio.sleep(0.01)
        if self._sessions is not None:
            await self._sessions.close(timeout_s=_CLOSE_S)


def serve(place: str, lock: int) -> None:
    """Run the daemon of a home in this process."""
    from hindsight_core.logs import log_into
    from hindsight_core.redact import redacted

    home = Path(place)
    os.chdir(home)
    # What a session starts (a model's command) must not keep the lock behind us.
    os.set_inheritable(lock, False)  # noqa: FBT003
    log_into(home / "logs", "daemon.log", redact=redacted)
    idle_s = _seconds(os.environ.get("HINDSIGHT_MEM_DAEMON_IDLE_S"))
    try:
        asyncio.run(Daemon(home, lock=lock, idle_s=idle_s).run())
    except Exception:
        logger.exception("the daemon failed")
    # Threads of a plugin must not keep a daemon that nobody can reach.
    os._exit(0)


async def _request(reader: asyncio.StreamReader) -> tuple[list[bytes], bytes]:
    size = int.from_bytes(await reader.readexactly(8), "big")
    if size > _MAX_HEADER:
        raise ValueError("the request's header is too large")
    fields = (await reader.readexactly(size)).split(b"\0")
    if len(fields) < 6:
        raise ValueError("the request's header is too short")
    length = int.from_bytes(await reader.readexactly(8), "big")
    if length > _MAX_BODY:
        raise ValueError("the request is too large")
    return fields, await reader.readexactly(length)


async def _unless_gone(
    answering: Coroutine[Any, Any, bytes], reader: asyncio.StreamReader
) -> bytes:
    """The answer; a hook whose process the agent has ended gets none, and its turn no trace.

    Raises:
        ConnectionResetError: It is gone.
    """
    answer = asyncio.create_task(answering)
    gone = asyncio.create_task(reader.read(1))
    try:
        await asyncio.wait({answer, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            raise ConnectionResetError("the hook's process ended before its answer")
        return answer.result()
    finally:
        for task in (answer, gone):
            task.cancel()
        await asyncio.gather(answer, gone, return_exceptions=True)


def _write_private(path: Path, content: bytes) -> None:
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    beside.replace(path)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _fingerprint() -> tuple[int, int] | None:
    """Tells this program's code from what an upgrade puts in its place; None when it is gone."""
    try:
        found = os.stat(__file__)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def _is_newer(version: str, than: str) -> bool:
    return _numbers(version) > _numbers(than)


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split("+")[0].split(".") if part.isdigit()]


def _seconds(text: str | None) -> float:
    try:
        return max(0.1, float(text)) if text else IDLE_S
    except ValueError:
        return IDLE_S


def _now() -> float:
    return asyncio.get_running_loop().time()
