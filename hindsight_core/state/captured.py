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
        wanted = list(keys)

        def work(connection: sqlite3.Connection) -> frozenset[str]:
            found = (
                connection.execute(
                    "SELECT key FROM captured WHERE bank = ? AND key = ? AND (done OR tries >= ?)",
                    (bank, key, MOST_TRIES),
                ).fetchone()
                for key in wanted
            )
            return frozenset(str(row[0]) for row in found if row is not None)

        return await self._database.read(work)

    async def settle(self, bank: str, keys: Iterable[str]) -> None:
        """These are done."""
        await self._note(bank, keys, done=1)

    async def tried(self, bank: str, key: str) -> None:
        """This one failed once more."""
        await self._note(bank, [key], done=0)

    async def _note(self, bank: str, keys: Iterable[str], *, done: int) -> None:
        rows = [(bank, key, done, self._clock().timestamp()) for key in keys]
        await self._database.write(
            lambda connection: (
                connection.executemany(
                    "INSERT INTO captured VALUES (?, ?, ?, 1, ?)"
                    " ON CONFLICT (bank, key) DO UPDATE SET tries = tries + 1,"
                    " done = max(done, excluded.done), at = excluded.at",
                    rows,
                ).rowcount
            )
        )
