"""One SQLite file of ours: opened safely, versioned, written by one thread.

A `Database` gives its owner two worker threads, one for reads and one for writes, so that the
event loop never waits for a lock and a reader never waits for a writer (WAL). What callers pass
in is a plain function of a connection; it runs in a transaction and returns plain values.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeVar

from hindsight_core.errors import StorageBusy, StorageError, StorageNewer

T = TypeVar("T")
NETWORK_FILE_SYSTEMS = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "fuse.sshfs"}
)
_CORRUPT = ("malformed", "not a database", "disk image", "file is encrypted")


@dataclass(frozen=True, slots=True)
class Schema:
    """How a file is laid out.

    Attributes:
        name: For messages: ``bank``, ``queue``, ``state``.
        migrations: Migration n takes ``user_version`` n to n + 1; each is one SQL script,
            additive within a major version.
    """

    name: str
    migrations: Sequence[str]

    @property
    def version(self) -> int:
        """The version that this program writes."""
        return len(self.migrations)


class Database:
    """A SQLite file with its own reader and writer thread.

    Args:
        path: The file; its folder is created with mode 0700, the file with 0600.
        schema: What is in it.
        synchronous: ``FULL`` survives power loss, ``NORMAL`` only a killed process.
        busy_ms: How long a write waits for another process.
        on_corrupt: ``aside`` renames a corrupt file and starts a new one (``set_aside`` then
            names it), ``raise`` leaves it.

    Raises:
        StorageError: Unwritable, full, on a network file system, or corrupt.
        StorageNewer: Written by a newer program; nothing was touched.
    """

    def __init__(
        self,
        path: Path,
        schema: Schema,
        *,
        synchronous: Literal["FULL", "NORMAL"] = "NORMAL",
        busy_ms: int = 5000,
        on_corrupt: Literal["aside", "raise"] = "aside",
    ) -> None:
        self.path = path
        self.schema = schema
        self.set_aside: Path | None = None
        self._synchronous = synchronous
        self._busy_ms = busy_ms
        self._on_corrupt = on_corrupt
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._prepared = False
        self._guard = threading.Lock()
        self._readers = ThreadPoolExecutor(1, thread_name_prefix=f"{schema.name}-read")
        self._writers = ThreadPoolExecutor(1, thread_name_prefix=f"{schema.name}-write")

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run a query function on the reader thread."""
        return await self._submit(self._readers, self._guarded, work)

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run a function inside one ``BEGIN IMMEDIATE`` transaction on the writer thread."""
        return await self._submit(self._writers, self._transaction, work)

    def read_now(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """`read`, on this thread: for short command-line paths."""
        return self._guarded(work)

    def write_now(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """`write`, on this thread: for short command-line paths."""
        return self._transaction(work)

    def close(self) -> None:
        """Finish queued work and close every connection."""
        self._writers.shutdown(wait=True)
        self._readers.shutdown(wait=True)
        for connection in self._connections:
            with suppress(sqlite3.Error):
                connection.close()
        self._connections.clear()

    async def _submit(
        self,
        pool: ThreadPoolExecutor,
        runner: Callable[[Callable[[sqlite3.Connection], T]], T],
        work: Callable[[sqlite3.Connection], T],
    ) -> T:
        return await asyncio.get_running_loop().run_in_executor(pool, runner, work)

    def _guarded(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            return work(self._connection())
        except sqlite3.Error as error:
            raise self._explain(error) from error

    def _transaction(self, work: Callable[[sqlite3.Connection], T]) -> T:
        def inside(connection: sqlite3.Connection) -> T:
            connection.execute("BEGIN IMMEDIATE")
            try:
                result = work(connection)
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise
            return result

        return self._guarded(inside)

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is not None:
            return connection
        with self._guard:
            if not self._prepared:
                self._prepare()
                self._prepared = True
            connection = self._open()
            self._connections.append(connection)
        self._local.connection = connection
        return connection

    def _prepare(self) -> None:
        self._make_room()
        try:
            self._migrate()
        except sqlite3.DatabaseError as error:
            if self._on_corrupt == "raise" or not any(w in str(error) for w in _CORRUPT):
                raise
            self.set_aside = _move_aside(self.path)
            self._migrate()

    def _make_room(self) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            if not self.path.exists():
                os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
        except OSError as error:
            raise StorageError(
                f"cannot create {self.path}: {error.strerror or error}. "
                "Free space or make the folder writable, or set HINDSIGHT_MEM_HOME to another one."
            ) from error
        kind = file_system(self.path.parent)
        if kind in NETWORK_FILE_SYSTEMS:
            raise StorageError(
                f"{self.path} is on a network file system ({kind}), where SQLite locks are not "
                "safe. Set HINDSIGHT_MEM_HOME to a local folder."
            )

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=self._busy_ms / 1000, isolation_level=None, check_same_thread=False
        )
        connection.execute(f"PRAGMA busy_timeout = {self._busy_ms}")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {self._synchronous}")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA temp_store = MEMORY")
        self._check_version(connection)
        return connection

    def _check_version(self, connection: sqlite3.Connection) -> int:
        found: int = connection.execute("PRAGMA user_version").fetchone()[0]
        if found > self.schema.version:
            connection.close()
            raise StorageNewer(
                f"{self.path} was written by a newer version of hindsight-mem (format {found}, "
                f"this one knows {self.schema.version}). Upgrade hindsight-core; the file is untouched."
            )
        return found

    def _migrate(self) -> None:
        connection = self._open()
        try:
            found = self._check_version(connection)
            if found == self.schema.version:
                return
            if found:
                _copy_before_migration(connection, self.path, found)
            connection.execute("BEGIN IMMEDIATE")
            # Another process may have migrated while this one waited for the lock.
            current = connection.execute("PRAGMA user_version").fetchone()[0]
            for script in self.schema.migrations[current:]:
                for statement in _statements(script):
                    connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {self.schema.version}")
            connection.execute("COMMIT")
        finally:
            with suppress(sqlite3.Error):
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            connection.close()

    def _explain(self, error: sqlite3.Error) -> StorageError:
        text = str(error)
        if "locked" in text or "busy" in text:
            return StorageBusy(
                f"{self.path} is locked by another process for more than {self._busy_ms} ms"
            )
        if "full" in text:
            return StorageError(f"{self.path}: the disk is full. Free space and try again.")
        if "readonly" in text or "unable to open" in text:
            return StorageError(
                f"{self.path} cannot be written ({text}). "
                "Make it writable, or set HINDSIGHT_MEM_HOME to another folder."
            )
        if any(word in text for word in _CORRUPT):
            return StorageError(
                f"{self.path} is corrupt ({text}). Start again to have it set aside, "
                "then import your last export."
            )
        return StorageError(f"{self.path}: {text}")


def file_system(folder: Path) -> str | None:
    """Type of the file system that holds a folder, where /proc tells (Linux); else None."""
    try:
        mounts = Path("/proc/self/mounts").read_text(errors="replace").splitlines()
    except OSError:
        return None
    target, best, kind = str(folder.resolve()), "", None
    for line in mounts:
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = fields[1].replace("\\040", " ")
        inside = target == point or target.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, kind = point, fields[2]
    return kind


def _statements(script: str) -> list[str]:
    found, pending = [], ""
    for line in script.splitlines():
        pending += line + "\n"
        if sqlite3.complete_statement(pending):
            found.append(pending.strip())
            pending = ""
    return [s for s in found if s]


def _copy_before_migration(connection: sqlite3.Connection, path: Path, version: int) -> None:
    copy = path.with_name(f"{path.name}.v{version}.bak")
    if copy.exists():
        return
    with sqlite3.connect(copy) as target:
        connection.backup(target)
    target.close()
    copy.chmod(0o600)


def _move_aside(path: Path) -> Path:
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
    target = path.with_name(f"{path.name}.corrupt-{stamp}")
    shutil.move(path, target)
    for suffix in ("-wal", "-shm"):
        side = path.with_name(path.name + suffix)
        if side.exists():
            shutil.move(side, target.with_name(target.name + suffix))
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    return target
