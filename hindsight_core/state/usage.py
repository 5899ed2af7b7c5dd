"""Calls and tokens by day, stage and session: what background work has cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hindsight_core.services import Clock, utc_now
from hindsight_core.state.state_schema import STATE_SCHEMA
from hindsight_core.storage import Database

if TYPE_CHECKING:
    import sqlite3
    from datetime import date
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class UsageRow:
    """What one stage used in one session on one day (UTC, ``YYYY-MM-DD``)."""

    day: str
    stage: str
    session_id: str
    calls: int
    input_tokens: int
    output_tokens: int


class UsageStore:
    """The meter's memory.

    Args:
        path: The file, ``$HINDSIGHT_MEM_HOME/state.db``.
        clock: Aware UTC now.
    """

    def __init__(self, path: Path, clock: Clock = utc_now) -> None:
        self.database = Database(path, STATE_SCHEMA)
        self._clock = clock

    async def add(
        self, day: date, stage: str, session: str | None, calls: int, input: int, output: int
    ) -> None:
        """Count calls and their tokens."""
        row = (day.isoformat(), stage, session or "", calls, input, output)
        await self.database.write(
            lambda connection: (
                connection.execute(
                    "INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?)"
                    " ON CONFLICT (day, stage, session_id) DO UPDATE SET"
                    " calls = calls + excluded.calls,"
                    " input_tokens = input_tokens + excluded.input_tokens,"
                    " output_tokens = output_tokens + excluded.output_tokens",
                    row,
                ).rowcount
            )
        )

    async def tokens_since(self, day: date) -> int:
        """Input and output tokens of that day and later."""

        def work(connection: sqlite3.Connection) -> int:
            return int(
                connection.execute(
                    "SELECT coalesce(sum(input_tokens + output_tokens), 0) FROM usage"
                    " WHERE day >= ?",
                    (day.isoformat(),),
                ).fetchone()[0]
            )

        return await self.database.read(work)

    async def rows(self, since_day: date | None = None) -> list[UsageRow]:
        """Everything counted on or after a day, oldest first."""

        def work(connection: sqlite3.Connection) -> list[UsageRow]:
            found = connection.execute(
                "SELECT * FROM usage WHERE day >= ? ORDER BY day, stage, session_id",
                (since_day.isoformat() if since_day else "",),
            )
            return [UsageRow(*row) for row in found]

        return await self.database.read(work)

    async def total(self, *, day: date | None = None, session_id: str | None = None) -> UsageRow:
        """The sum over a day, a session, both or everything; ``stage`` is empty."""
        when = day.isoformat() if day else None

        def work(connection: sqlite3.Connection) -> UsageRow:
            sums = connection.execute(
                "SELECT coalesce(sum(calls), 0), coalesce(sum(input_tokens), 0),"
                " coalesce(sum(output_tokens), 0) FROM usage"
                " WHERE (?1 IS NULL OR day = ?1) AND (?2 IS NULL OR session_id = ?2)",
                (when, session_id),
            ).fetchone()
            return UsageRow(when or "", "", session_id or "", *sums)

        return await self.database.read(work)

    async def today(self) -> UsageRow:
        """The sum of this day (UTC)."""
        return await self.total(day=self._clock().date())

    def close(self) -> None:
        """Finish what is being written and close the file."""
        self.database.close()
