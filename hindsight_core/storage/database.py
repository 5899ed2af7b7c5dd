"""One SQLite file of ours: opened safely, versioned, written by one thread.

A `Database` gives its owner two worker threads, one for reads and one for writes, so that the
event loop never waits for a lock and a reader never waits for a writer (WAL). What callers pass
in is a plain function of a connection; it runs in a transaction and returns plain values.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Literal, TypeVar

from hindsight_core.errors import StorageError
from hindsight_core.storage.faults import explain, is_busy, is_corrupt
from hindsight_core.storage.files import (
    Identity,
    identity,
    is_missing,
    make_room,
    move_aside,
    repairing,
)
from hindsight_core.storage.schema import Schema, blank, check_version, migrate

T = TypeVar("T")
_SCRUB_MS = 200
Salvage = Callable[[Path, sqlite3.Connection], None]


class Database:
    """A SQLite file with its own reader and writer thread.

    Args:
        path: The file; its folder is created with mode 0700, the file with 0600.
        schema: What is in it.
        synchronous: ``FULL`` survives power loss, ``NORMAL`` only a killed process.
        busy_ms: How long a write waits for another process.
        on_corrupt: ``aside`` renames a corrupt file and starts a new one (``set_aside`` then
            names it), ``raise`` leaves it.
        salvage: Called with the renamed file and a connection to the new one, inside a
            transaction: copies what can still be read.

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
        salvage: Salvage | None = None,
    ) -> None:
        self.path = path
        self.schema = schema
        self.set_aside: Path | None = None
        self._synchronous = synchronous
        self._busy_ms = busy_ms
        self._on_corrupt = on_corrupt
        self._salvage = salvage
        self._local = threading.local()
        self._connections: set[sqlite3.Connection] = set()
        self._prepared: Identity = None
        self._guard = threading.RLock()
        self._readers = ThreadPoolExecutor(1, thread_name_prefix=f"{schema.name}-read")
        self._writers = ThreadPoolExecutor(1, thread_name_prefix=f"{schema.name}-write")

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run a query function on the reader thread."""
        return await self._submit(self._readers, self._guarded, work)

    async def peek(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """`read` that makes no file: one that is not there reads as one with nothing in it."""
        return await self._submit(self._readers, self._peeked, work)

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run a function inside one ``BEGIN IMMEDIATE`` transaction on the writer thread."""
        return await self._submit(self._writers, self._transaction, work)

    async def outside(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run a function on the writer thread outside of a transaction, as VACUUM needs it."""
        return await self._submit(self._writers, self._guarded, work)

    async def scrub(self) -> None:
        """Move the log into the file and cut it: what was deleted is not left in there.

        Whoever reads just now delays this to the next time; nobody waits for it long.
        """

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(f"PRAGMA busy_timeout = {_SCRUB_MS}")
            try:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            finally:
                connection.execute(f"PRAGMA busy_timeout = {self._busy_ms}")

        await self.outside(work)

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
        try:
            future = asyncio.get_running_loop().run_in_executor(pool, runner, work)
        except RuntimeError as error:  # after close, or while the interpreter shuts down
            raise StorageError(f"{self.path} is closed: {error}") from error
        return await future

    def _guarded(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            return work(self._connection())
        except sqlite3.Error as error:
            if is_corrupt(error) and self._on_corrupt == "aside":
                self._repair(error)
            raise explain(error, self.path, busy_ms=self._busy_ms) from error

    def _peeked(self, work: Callable[[sqlite3.Connection], T]) -> T:
        if not is_missing(self.path):
            return self._guarded(work)
        try:
            with blank(self.schema) as connection:
                return work(connection)
        except sqlite3.Error as error:
            raise explain(error, self.path, busy_ms=self._busy_ms) from error

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
        """This thread's connection to the file that has the name now.

        A file that another process set aside, or that was deleted, is opened anew: what is
        written must not end in a file without a name.
        """
        current = identity(self.path)
        mine: tuple[sqlite3.Connection, Identity] | None = getattr(self._local, "mine", None)
        if mine is not None and current is not None and mine[1] == current:
            return mine[0]
        with self._guard:
            if mine is not None:
                self._drop(mine[0])
            if current is None or self._prepared != current:
                self._prepare()
            connection = self._open()
            self._connections.add(connection)
            self._local.mine = (connection, identity(self.path))
        return connection

    def _drop(self, connection: sqlite3.Connection) -> None:
        self._local.mine = None
        self._connections.discard(connection)
        with suppress(sqlite3.Error):
            connection.close()

    def _prepare(self) -> None:
        make_room(self.path)
        try:
            self._migrate()
        except sqlite3.Error as error:
            if not is_corrupt(error) or self._on_corrupt == "raise":
                raise
            self._replace()
        self._prepared = identity(self.path)

    def _migrate(self) -> None:
        connection = self._open()
        try:
            migrate(connection, self.schema, self.path)
        finally:
            connection.close()

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=self._busy_ms / 1000, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute(f"PRAGMA busy_timeout = {self._busy_ms}")
            check_version(connection, self.schema, self.path)
            self._use_wal(connection)
            connection.execute(f"PRAGMA synchronous = {self._synchronous}")
            connection.execute("PRAGMA foreign_keys = ON")
            # What is deleted or replaced is overwritten, not only unlinked.
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("PRAGMA temp_store = MEMORY")
        except BaseException:
            connection.close()
            raise
        return connection

    def _use_wal(self, connection: sqlite3.Connection) -> None:
        """Switch to WAL; SQLite does not wait for others here, so this does."""
        until = time.monotonic() + self._busy_ms / 1000
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if not is_busy(error) or time.monotonic() > until:
                    raise
                time.sleep(0.01)

    def _repair(self, error: sqlite3.Error) -> None:
        """After a damage was met in use: set the file aside if the whole of it is not sound.

        Raises:
            StorageError: It was set aside; the next call works on the new file.
        """
        with self._guard:
            mine = getattr(self._local, "mine", None)
            if mine is not None:
                self._drop(mine[0])
            try:
                aside = self._replace()
            except (sqlite3.Error, OSError):
                return
        if aside is not None:
            raise StorageError(
                f"{self.path} was corrupt ({error}) and has been set aside as {aside}. "
                "A new file is in its place; import your last export."
            ) from error

    def _replace(self) -> Path | None:
        """Set a corrupt file aside, once however many processes found it; its new name."""
        with repairing(self.path):
            if _is_sound(self.path):
                self._migrate()
                return None
            self.set_aside = move_aside(self.path)
            self._migrate()
            if self._salvage is not None:
                connection = self._open()
                try:
                    connection.execute("BEGIN IMMEDIATE")
                    self._salvage(self.set_aside, connection)
                    connection.execute("COMMIT")
                finally:
                    connection.close()
            return self.set_aside


def _is_sound(path: Path) -> bool:
    connection = sqlite3.connect(path)
    try:
        found = connection.execute("PRAGMA quick_check").fetchall()
    except sqlite3.DatabaseError as error:
        return not is_corrupt(error)
    finally:
        connection.close()
    # SQLite 3.40 reports NULLs that are none in tables without row ids.
    return all(row[0] == "ok" or row[0].startswith("NULL value in") for row in found)
