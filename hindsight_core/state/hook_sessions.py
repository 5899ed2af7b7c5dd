"""What adapters of spawned hooks want to know again in the next process."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hindsight_core.services import Clock, utc_now
from hindsight_core.state.state_schema import STATE_SCHEMA
from hindsight_core.storage import Database

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

KEEP_DAYS = 90


class HookSessions:
    """One small JSON object a session, in state.db: it may be lost, then a session starts anew.

    Args:
        path: The file, ``$HINDSIGHT_MEM_HOME/state.db``.
        clock: Aware UTC now.

    Raises:
        StorageError: From any method: the file cannot be read or written.
    """

    def __init__(self, path: Path, clock: Clock = utc_now) -> None:
        self._database = Database(path, STATE_SCHEMA)
        self._clock = clock

    async def load(self, host: str, session_id: str) -> dict[str, Any]:
        """What was kept of a session; empty for a new one."""

        def work(connection: sqlite3.Connection) -> tuple[str] | None:
            found: tuple[str] | None = connection.execute(
                "SELECT memo FROM hook_sessions WHERE host = ? AND session_id = ?",
                (host, session_id),
            ).fetchone()
            return found

        row = await self._database.read(work)
        if row is None:
            return {}
        try:
            memo = json.loads(row[0])
        except ValueError:
            return {}
        return memo if isinstance(memo, dict) else {}

    async def keep(self, host: str, session_id: str, memo: dict[str, Any]) -> None:
        """Keep a session's object; those of sessions long silent go."""
        now = self._clock().timestamp()
        text = json.dumps(memo)

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(
                "INSERT OR REPLACE INTO hook_sessions VALUES (?, ?, ?, ?)",
                (host, session_id, text, now),
            )
            connection.execute(
                "DELETE FROM hook_sessions WHERE updated_at < ?", (now - KEEP_DAYS * 86_400,)
            )

        await self._database.write(work)

    def close(self) -> None:
        """Finish what is being written and close the file."""
        self._database.close()
