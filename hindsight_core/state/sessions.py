"""What a session has behind it: cursor, saved ranges, shown facts, summary, mode."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from hindsight_core.services import Clock, utc_now
from hindsight_core.state.queue import Queue
from hindsight_core.state.state_schema import STATE_SCHEMA
from hindsight_core.storage import Database

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

SessionMode = Literal["normal", "read-only", "ignored"]
Range = tuple[str | None, str]
_MODES: tuple[SessionMode, ...] = ("normal", "read-only", "ignored")


class SessionState:
    """Per session and bank; the file may be lost, then it is filled again from the queue's.

    The cursor is the newest window in the queue's file, written in the same transaction as the
    document: a crash between the two repeats nothing, and state.db may be lost.

    Args:
        path: The file, ``$HINDSIGHT_MEM_HOME/state.db``.
        clock: Aware UTC now.
        queue: Knows the windows; None opens the queue.db beside the file.

    Raises:
        StorageError: From any method: the file cannot be read or written.
    """

    def __init__(self, path: Path, clock: Clock = utc_now, queue: Queue | None = None) -> None:
        self.database = Database(path, STATE_SCHEMA)
        self._clock = clock
        self._queue = queue or Queue(path.with_name("queue.db"), clock)
        self._owns_queue = queue is None

    async def cursor(
        self, bank: str, session_id: str, *, path: Sequence[str] | None = None
    ) -> str | None:
        """Id of the last entry that is dealt with; None for a session never looked at.

        ``path``, the ids of the active path in order, finds the one on this branch: a session
        may go back to an older entry and on from there.
        """
        return await self._queue.cursor(bank, session_id, path=path)

    async def set_cursor(self, bank: str, session_id: str, entry_id: str) -> None:
        """Everything up to and with this entry is dealt with; it never goes back."""
        await self._queue.move_cursor(bank, session_id, entry_id)

    async def saved_ranges(self, bank: str, session_id: str) -> tuple[Range, ...]:
        """Ranges ``(after, last]`` whose content is stored already (pi/X-05)."""
        row = await self._one("saved_ranges", "ranges", bank, session_id)
        return () if row is None else tuple((a, b) for a, b in json.loads(str(row[0])))

    async def set_saved_ranges(self, bank: str, session_id: str, ranges: Sequence[Range]) -> None:
        """Replace the saved ranges."""
        await self._put(
            "saved_ranges (bank, session_id, ranges, updated_at)",
            (bank, session_id, json.dumps([list(r) for r in ranges])),
        )

    async def shown(self, bank: str, session_id: str) -> frozenset[str]:
        """Normalised texts that are before the model already (pi/R-16)."""

        def work(connection: sqlite3.Connection) -> frozenset[str]:
            rows = connection.execute(
                "SELECT text FROM shown WHERE bank = ? AND session_id = ?", (bank, session_id)
            )
            return frozenset(json.loads(row[0]) for row in rows)

        return await self.database.read(work)

    async def add_shown(self, bank: str, session_id: str, texts: Iterable[str]) -> None:
        """These texts are before the model now."""
        now = self._now()
        rows = [(bank, session_id, json.dumps(text), now) for text in texts]
        await self.database.write(
            lambda connection: (
                connection.executemany(
                    "INSERT OR REPLACE INTO shown VALUES (?, ?, ?, ?)", rows
                ).rowcount
            )
        )

    async def clear_shown(self, bank: str, session_id: str) -> None:
        """Nothing is before the model any more: a compaction took it away."""
        await self.database.write(
            lambda connection: (
                connection.execute(
                    "DELETE FROM shown WHERE bank = ? AND session_id = ?", (bank, session_id)
                ).rowcount
            )
        )

    async def summary(self, bank: str, session_id: str) -> str | None:
        """The rolling summary of what was memorized from this session."""
        row = await self._one("summaries", "text", bank, session_id)
        return None if row is None else str(json.loads(str(row[0])))

    async def set_summary(self, bank: str, session_id: str, text: str) -> None:
        """Replace the rolling summary."""
        await self._put(
            "summaries (bank, session_id, text, updated_at)", (bank, session_id, json.dumps(text))
        )

    async def mode(self, session_id: str) -> SessionMode:
        """The session's mode; an unreadable one is ``ignored`` (s1/S-SES-3)."""

        def work(connection: sqlite3.Connection) -> tuple[str] | None:
            found: tuple[str] | None = connection.execute(
                "SELECT mode FROM modes WHERE session_id = ?", (session_id,)
            ).fetchone()
            return found

        row = await self.database.read(work)
        if row is None:
            return "normal"
        return next((m for m in _MODES if m == row[0]), "ignored")

    async def set_mode(self, session_id: str, mode: SessionMode) -> None:
        """Change the session's mode; what else was chosen for it stays."""
        now = self._now()
        await self.database.write(
            lambda connection: (
                connection.execute(
                    "INSERT INTO modes (session_id, mode, updated_at) VALUES (?, ?, ?)"
                    " ON CONFLICT (session_id) DO UPDATE SET mode = excluded.mode,"
                    " updated_at = excluded.updated_at",
                    (session_id, mode, now),
                ).rowcount
            )
        )

    def now(self) -> float:
        """The clock in seconds."""
        return self._now()

    def close(self) -> None:
        """Finish what is being written and close the file."""
        self.database.close()
        if self._owns_queue:
            self._queue.close()

    async def _one(
        self, table: str, columns: str, bank: str, session_id: str
    ) -> tuple[str | int, ...] | None:
        def work(connection: sqlite3.Connection) -> tuple[str | int, ...] | None:
            found: tuple[str | int, ...] | None = connection.execute(
                f"SELECT {columns} FROM {table} WHERE bank = ? AND session_id = ?",
                (bank, session_id),
            ).fetchone()
            return found

        return await self.database.read(work)

    async def _put(self, target: str, values: tuple[str | int, ...]) -> None:
        row = (*values, self._now())
        marks = ", ".join("?" * len(row))
        await self.database.write(
            lambda connection: (
                connection.execute(
                    f"INSERT OR REPLACE INTO {target} VALUES ({marks})", row
                ).rowcount
            )
        )

    def _now(self) -> float:
        return self._clock().timestamp()
