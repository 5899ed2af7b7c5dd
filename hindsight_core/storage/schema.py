"""The layout of a file and the way from an older layout to this one."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from hindsight_core.errors import StorageNewer


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


def check_version(connection: sqlite3.Connection, schema: Schema, path: Path) -> int:
    """The version of a file.

    Raises:
        StorageNewer: It is newer than this program; nothing was written.
    """
    found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if found > schema.version:
        raise StorageNewer(
            f"{path} was written by a newer version of hindsight-mem (format {found}, "
            f"this one knows {schema.version}). Upgrade hindsight-core; the file is untouched."
        )
    return found


def migrate(connection: sqlite3.Connection, schema: Schema, path: Path) -> None:
    """Bring a file to this program's version, in one transaction, after a copy of it.

    Any number of processes may do this at once: one migrates, the others wait and find it done.
    """
    found = check_version(connection, schema, path)
    if found == schema.version:
        return
    if found:
        _copy(connection, path, found)
    try:
        connection.execute("BEGIN IMMEDIATE")
        # Another process may have migrated while this one waited for the lock.
        current = check_version(connection, schema, path)
        for script in schema.migrations[current:]:
            for statement in _statements(script):
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {schema.version}")
        connection.execute("COMMIT")
    finally:
        with suppress(sqlite3.Error):
            if connection.in_transaction:
                connection.execute("ROLLBACK")


@contextmanager
def blank(schema: Schema) -> Iterator[sqlite3.Connection]:
    """What a file of this layout is before anything is written to it, in memory."""
    memory = Path(":memory:")
    with closing(sqlite3.connect(memory, isolation_level=None)) as connection:
        migrate(connection, schema, memory)
        yield connection


def _copy(connection: sqlite3.Connection, path: Path, version: int) -> None:
    """A copy is complete or not there: it appears under its name at the end."""
    copy = path.with_name(f"{path.name}.v{version}.bak")
    if copy.exists():
        return
    unfinished = path.with_name(f"{copy.name}.{os.getpid()}.part")
    try:
        os.close(os.open(unfinished, os.O_CREAT | os.O_RDWR, 0o600))
        target = sqlite3.connect(unfinished)
        try:
            connection.backup(target)
        finally:
            target.close()
        unfinished.replace(copy)
    finally:
        unfinished.unlink(missing_ok=True)


def _statements(script: str) -> list[str]:
    found, pending = [], ""
    for line in script.splitlines():
        pending += line + "\n"
        if sqlite3.complete_statement(pending):
            found.append(pending.strip())
            pending = ""
    return [s for s in found if s]
