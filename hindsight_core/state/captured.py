"""Which messages and runs active memory has dealt with in a bank."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from hindsight_core.services import Clock, utc_now

if TYPE_CHECKING:
    import sqlite3

    from hindsight_core.storage import Database

MOST_TRIES = 3


class Captured:
    """Marks by bank and key; where they are lost, the neighbours in the bank show doubles.

    Args:
        database: The file, ``$HINDSIGHT_MEM_HOME/state.db``, opened by its owner.
        clock: Aware UTC now.

    Raises:
        StorageError: From any method: the file cannot be read or written.
    """

    def __init__(self, database: Database, clock: Clock = utc_now) -> None:
        self._database = database
        self._clock = clock

    async def settled(self, bank: str, keys: Iterable[str]) -> frozenset[str]:
        """Those of the keys that are done, or were tried too often."""
        return await self._which(bank, keys, f"done OR tries >= {MOST_TRIES}")

    async def waiting(self, bank: str, keys: Iterable[str]) -> frozenset[str]:
        """Those of the keys that are noted and not done."""
        return await self._which(bank, keys, "NOT done")

    async def note(self, bank: str, keys: Iterable[str]) -> None:
        """These are to be dealt with, now or later."""
        await self._put(bank, keys, "INSERT OR IGNORE INTO captured VALUES (?, ?, 0, 0, ?)")

    async def settle(self, bank: str, keys: Iterable[str]) -> None:
        """These are done."""
        await self._put(
            bank,
            keys,
            "INSERT INTO captured VALUES (?, ?, 1, 0, ?)"
            " ON CONFLICT (bank, key) DO UPDATE SET done = 1, at = excluded.at",
        )

    async def tried(self, bank: str, key: str) -> None:
        """This one failed by itself once more."""
        await self._put(
            bank,
            [key],
            "INSERT INTO captured VALUES (?, ?, 0, 1, ?)"
            " ON CONFLICT (bank, key) DO UPDATE SET tries = tries + 1, at = excluded.at",
        )

    async def _which(self, bank: str, keys: Iterable[str], condition: str) -> frozenset[str]:
        wanted = list(keys)

        def work(connection: sqlite3.Connection) -> frozenset[str]:
            found = (
                connection.execute(
                    f"SELECT key FROM captured WHERE bank = ? AND key = ? AND ({condition})",
                    (bank, key),
                ).fetchone()
                for key in wanted
            )
            return frozenset(str(row[0]) for row in found if row is not None)

        return await self._database.read(work)

    async def _put(self, bank: str, keys: Iterable[str], statement: str) -> None:
        rows = [(bank, key, self._clock().timestamp()) for key in keys]
        await self._database.write(
            lambda connection: connection.executemany(statement, rows).rowcount
        )
