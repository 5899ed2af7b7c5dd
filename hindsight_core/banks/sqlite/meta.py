"""What a bank's file tells of itself."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3


def identity(connection: sqlite3.Connection) -> str | None:
    """The name made for this very file; None before its first one is made."""
    found = connection.execute("SELECT value FROM meta WHERE key = 'identity'").fetchone()
    return str(found[0]) if found else None


def make_identity(connection: sqlite3.Connection) -> str:
    """The same, made now if need be; inside a write transaction."""
    connection.execute("INSERT OR IGNORE INTO meta VALUES ('identity', ?)", (uuid.uuid4().hex,))
    return identity(connection) or ""
