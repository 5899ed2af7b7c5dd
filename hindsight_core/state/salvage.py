"""What can still be read of a corrupt queue.db goes into the new one: acknowledged writes first."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path

_TABLES = {
    "jobs": "id",
    "windows": "seq",
    "covered": "session_id, entry_id",
    "retained": "session_id, entry_id",
    "left_out": "session_id, entry_id",
    "journal": "seq",
    "sessions": "rowid",
    "receipts": "rowid",
    "review": "id",
    "review_actions": "id",
    "set_aside": "id",
    "bank_files": "bank",
}


def salvage(damaged: Path, fresh: sqlite3.Connection) -> None:
    """Copy every readable row, from both ends of each table towards the damage.

    Args:
        damaged: The file that was set aside.
        fresh: The new file, inside a transaction.
    """
    with closing(sqlite3.connect(damaged)) as old:
        # Bytes, so that a text that is no UTF-8 does not end the walk.
        old.text_factory = bytes
        for table, key in _TABLES.items():
            for order in ("ASC", "DESC"):
                with suppress(sqlite3.Error):
                    by = ", ".join(f"{column} {order}" for column in key.split(", "))
                    _copy(old, fresh, table, by)


def _copy(old: sqlite3.Connection, fresh: sqlite3.Connection, table: str, order: str) -> None:
    columns = [row[1] for row in fresh.execute(f"PRAGMA table_info({table})")]
    names, marks = ", ".join(columns), ", ".join("?" * len(columns))
    for row in old.execute(f"SELECT {names} FROM {table} ORDER BY {order}"):
        values = [v.decode(errors="replace") if isinstance(v, bytes) else v for v in row]
        with suppress(sqlite3.Error):  # a row that is damaged itself
            fresh.execute(f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({marks})", values)
