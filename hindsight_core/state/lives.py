"""Lifecycle records of every bank: the local side table of active memory (design.md).

A change reads the newest record, changes it and writes it in one transaction, so that any number
of processes may do this at once and no change is lost (am/A-STORE-3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from hindsight_core.services import Clock, utc_now
from hindsight_core.state.life import LifeRecord, decode, encode

if TYPE_CHECKING:
    import sqlite3

    from hindsight_core.storage import Database

Change = Callable[["LifeRecord | None"], "LifeRecord | None"]
_AT_ONCE = 500


class LifeRecords:
    """Records by bank and fact id.

    Args:
        database: The file, ``$HINDSIGHT_MEM_HOME/state.db``, opened by its owner.
        clock: Aware UTC now.

    Raises:
        StorageError: From any method: the file cannot be read or written.
    """

    def __init__(self, database: Database, clock: Clock = utc_now) -> None:
        self.database = database
        self._clock = clock

    async def get(self, bank: str, fact_ids: Iterable[str]) -> dict[str, LifeRecord]:
        """The records that there are."""
        wanted = tuple(dict.fromkeys(fact_ids))
        return await self.database.read(lambda connection: _read(connection, bank, wanted))

    async def change(
        self, bank: str, fact_ids: Iterable[str], change: Callable[[str], Change]
    ) -> dict[str, LifeRecord]:
        """Change records in one transaction.

        Args:
            bank: Their bank.
            fact_ids: Which.
            change: Gives for an id the function of its newest record (None when there is none)
                to the one to be written; None leaves it as it is.

        Returns:
            The records of these ids afterwards.
        """
        wanted, now = tuple(dict.fromkeys(fact_ids)), self._clock().timestamp()

        def work(connection: sqlite3.Connection) -> dict[str, LifeRecord]:
            found = _read(connection, bank, wanted)
            _set_aside(connection, bank, [i for i in wanted if i not in found], at=now)
            for fact_id in wanted:
                after = change(fact_id)(found.get(fact_id))
                if after is None or after == found.get(fact_id):
                    continue
                found[fact_id] = after
                _write(connection, bank, fact_id, after, at=now)
            return found

        return await self.database.write(work)

    async def succeed(
        self, bank: str, new: str, *, record: LifeRecord, seen: Mapping[str, LifeRecord]
    ) -> bool:
        """Give the place of facts to another one.

        Args:
            bank: Their bank.
            new: The fact that takes it.
            record: Of that one, made of what was seen of the others.
            seen: The records of those that are replaced, as they were seen.

        Returns:
            False, with nothing written, when one was changed or replaced meanwhile.
        """
        now = self._clock().timestamp()

        def work(connection: sqlite3.Connection) -> bool:
            for old, before in _read(connection, bank, tuple(seen)).items():
                if replace(before, updated_at=seen[old].updated_at) != seen[old]:
                    return False
            for old, before in seen.items():
                _write(connection, bank, old, replace(before, succeeded_by=new), at=now)
            _write(connection, bank, new, record, at=now)
            return True

        return await self.database.write(work)

    async def everything(self, bank: str) -> dict[str, LifeRecord]:
        """All records of a bank that can be read, by fact id in order."""

        def work(connection: sqlite3.Connection) -> dict[str, LifeRecord]:
            rows = connection.execute("SELECT fact_id FROM lives WHERE bank = ?", (bank,))
            return _read(connection, bank, tuple(sorted(row[0] for row in rows.fetchall())))

        found = await self.database.read(work)
        return dict(sorted(found.items()))

    async def put(self, bank: str, records: Mapping[str, LifeRecord]) -> int:
        """Write records as they are, in one transaction; how many were new or different."""
        now = self._clock().timestamp()

        def work(connection: sqlite3.Connection) -> int:
            held = _read(connection, bank, tuple(records))
            fresh = {key: one for key, one in records.items() if held.get(key) != one}
            for fact_id, record in fresh.items():
                _write(connection, bank, fact_id, record, at=now)
            return len(fresh)

        return await self.database.write(work)

    async def forget(self, bank: str, fact_ids: Iterable[str]) -> None:
        """Facts were deleted for good: no record, and no other record's past, tells of them."""
        gone = frozenset(fact_ids)

        def work(connection: sqlite3.Connection) -> None:
            for table in ("lives", "lives_aside"):
                connection.executemany(
                    f"DELETE FROM {table} WHERE bank = ? AND fact_id = ?",
                    [(bank, fact_id) for fact_id in gone],
                )
            for fact_id, body in connection.execute(
                "SELECT fact_id, body FROM lives WHERE bank = ? AND body LIKE '%\"supersedes\"%'",
                (bank,),
            ).fetchall():
                with suppress(ValueError):
                    if (after := _without_past(decode(body), gone)) is not None:
                        _write(connection, bank, fact_id, after, at=self._clock().timestamp())

        await self.database.write(work)

    async def set_aside(self, bank: str) -> list[tuple[str, str]]:
        """Records that could not be read: fact id and what is wrong."""

        def work(connection: sqlite3.Connection) -> list[tuple[str, str]]:
            rows = connection.execute(
                "SELECT fact_id, reason FROM lives_aside WHERE bank = ? ORDER BY at", (bank,)
            )
            return [(str(row[0]), str(row[1])) for row in rows]

        return await self.database.read(work)

    async def session_number(self, bank: str, session_id: str) -> int:
        """The number of a session in its bank, counted from 1 as they begin."""

        def work(connection: sqlite3.Connection) -> int:
            connection.execute(
                "INSERT OR IGNORE INTO bank_sessions (bank, session_id, number) VALUES (?1, ?2,"
                " (SELECT coalesce(max(number), 0) + 1 FROM bank_sessions WHERE bank = ?1))",
                (bank, session_id),
            )
            return int(
                connection.execute(
                    "SELECT number FROM bank_sessions WHERE bank = ? AND session_id = ?",
                    (bank, session_id),
                ).fetchone()[0]
            )

        return await self.database.write(work)


def _read(
    connection: sqlite3.Connection, bank: str, wanted: tuple[str, ...]
) -> dict[str, LifeRecord]:
    found: dict[str, LifeRecord] = {}
    for start in range(0, len(wanted), _AT_ONCE):
        part = wanted[start : start + _AT_ONCE]
        marks = ", ".join("?" * len(part))
        rows: Mapping[str, str] = dict(
            connection.execute(
                f"SELECT fact_id, body FROM lives WHERE bank = ? AND fact_id IN ({marks})",
                (bank, *part),
            ).fetchall()
        )
        for fact_id, body in rows.items():
            try:
                found[fact_id] = decode(body)
            except ValueError:
                continue  # set aside by the next change
    return found


def _without_past(record: LifeRecord, gone: frozenset[str]) -> LifeRecord | None:
    """The record without the words of what it replaced; None where it replaced none of these."""
    if gone.isdisjoint(record.supersedes):
        return None
    earlier = tuple(replace(e, text=None, user_text=None, evidence=None) for e in record.earlier)
    kept = tuple(old for old in record.supersedes if old not in gone)
    return replace(record, earlier=earlier, supersedes=kept)


def _write(
    connection: sqlite3.Connection, bank: str, fact_id: str, record: LifeRecord, *, at: float
) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO lives VALUES (?, ?, ?, ?)", (bank, fact_id, encode(record), at)
    )


def _set_aside(
    connection: sqlite3.Connection, bank: str, fact_ids: Iterable[str], *, at: float
) -> None:
    """Move records that cannot be read out of the way, with the reason."""
    for fact_id in fact_ids:
        row = connection.execute(
            "SELECT body FROM lives WHERE bank = ? AND fact_id = ?", (bank, fact_id)
        ).fetchone()
        if row is None:
            continue
        try:
            decode(row[0])
        except ValueError as error:
            connection.execute(
                "INSERT OR REPLACE INTO lives_aside VALUES (?, ?, ?, ?, ?)",
                (bank, fact_id, row[0], str(error).split("\n")[1].strip(), at),
            )
            connection.execute("DELETE FROM lives WHERE bank = ? AND fact_id = ?", (bank, fact_id))
