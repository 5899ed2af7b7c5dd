"""The bank's file: its errors told as bank errors, a corrupt one set aside with a message."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from hindsight_core.banks.sqlite.schema import SCHEMA
from hindsight_core.errors import BankError, StorageBusy, StorageError, StorageNewer
from hindsight_core.storage import Database

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]


class BankFile:
    """Runs short functions on the file's worker threads.

    Args:
        bank_id: For messages.
        path: The file.
        busy_ms: How long a write waits for another process.
        logger: Told once when a corrupt file was set aside.
    """

    def __init__(self, bank_id: str, path: Path, *, busy_ms: int, logger: logging.Logger) -> None:
        self._bank = bank_id
        self._log = logger
        self._told = False
        # What a bank acknowledges must outlive a power cut, not only a killed process.
        self._database = Database(path, SCHEMA, synchronous="FULL", busy_ms=busy_ms)

    @property
    def set_aside(self) -> Path | None:
        """Where a corrupt file was moved when this one was opened."""
        return self._database.set_aside

    async def make(self) -> None:
        """Create the file if it is not there, and open it.

        Raises:
            BankError: It cannot be created or read.
        """
        await self._guarded(self._database.read(lambda connection: None))

    async def read(self, work: Work[T]) -> T:
        """Run a query function; a bank that has no file yet is empty, and gets none by it.

        Raises:
            BankError: The file cannot be read; `BankError.retryable` when it is only busy.
        """
        return await self._guarded(self._database.peek(work))

    async def write(self, work: Work[T]) -> T:
        """Run a function in one transaction.

        Raises:
            BankError: The file cannot be written; retryable when it is busy or the disk is full.
        """

        def inside(connection: sqlite3.Connection) -> T:
            # What is deleted or replaced is overwritten, not only unlinked.
            connection.execute("PRAGMA secure_delete = ON")
            return work(connection)

        return await self._guarded(self._database.write(inside))

    async def vacuum(self) -> None:
        """Give the space of what was deleted back to the disk.

        Raises:
            BankError: Another process uses the file, or the disk is full.
        """
        await self._guarded(self._database.outside(lambda c: c.execute("VACUUM").fetchall()))
        await self._guarded(self._database.scrub())

    def close(self) -> None:
        """Finish queued work and close the file."""
        self._database.close()

    async def _guarded(self, running: Awaitable[T]) -> T:
        try:
            result = await running
        except StorageBusy as error:
            raise BankError(f"bank {self._bank}: {error}", retryable=True) from error
        except StorageNewer as error:
            raise BankError(str(error), retryable=False) from error
        except StorageError as error:
            full = "disk is full" in str(error)
            raise BankError(f"bank {self._bank}: {error}", retryable=full) from error
        self._tell_set_aside()
        return result

    def _tell_set_aside(self) -> None:
        if self.set_aside is not None and not self._told:
            self._told = True
            self._log.warning(
                "bank %s was corrupt: its file was set aside as %s and a new one started;"
                " import your last export with `hindsight-mem bank import FILE`",
                self._bank,
                self.set_aside,
            )
