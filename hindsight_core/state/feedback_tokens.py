"""Which memories were shown under which token, and what was answered about them (am/A-FB-1)."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from hindsight_core.services import Clock, utc_now

if TYPE_CHECKING:
    import sqlite3

    from hindsight_core.storage import Database

Redeemed = Literal["accepted", "unknown_token", "not_in_steer", "duplicate", "session_limit"]
_KEPT_S = 90 * 24 * 3600.0


@dataclass(frozen=True, slots=True)
class Shown:
    """The memories of one token."""

    token: str
    bank: str
    session_id: str
    fact_ids: tuple[str, ...]
    at: float


def new_token() -> str:
    """A token that nobody can guess."""
    return str(uuid.uuid4())


class FeedbackTokens:
    """Unguessable tokens; they outlive the process, so that a resumed session may answer.

    Args:
        database: The file, ``$HINDSIGHT_MEM_HOME/state.db``, opened by its owner.
        clock: Aware UTC now.

    Raises:
        StorageError: From any method: the file cannot be read or written.
    """

    def __init__(self, database: Database, clock: Clock = utc_now) -> None:
        self.database = database
        self._clock = clock

    async def issue(
        self, bank: str, session_id: str, fact_ids: Iterable[str], *, token: str | None = None
    ) -> str:
        """The token of facts that are shown together; old ones end after 90 days.

        Args:
            bank: Their bank.
            session_id: Who is shown them.
            fact_ids: Which.
            token: One that was made already (`new_token`); a new one by default.
        """
        token, now = token or new_token(), self._now()
        ids = tuple(dict.fromkeys(fact_ids))

        def work(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM steers WHERE shown_at < ?", (now - _KEPT_S,))
            connection.execute(
                "INSERT OR IGNORE INTO steers VALUES (?, ?, ?, ?)", (token, bank, session_id, now)
            )
            connection.executemany(
                "INSERT OR IGNORE INTO steer_facts (token, fact_id, position) VALUES (?, ?, ?)",
                [(token, fact_id, number) for number, fact_id in enumerate(ids)],
            )

        await self.database.write(work)
        return token

    async def shown(self, token: str) -> Shown | None:
        """What a token stands for; None for one that nobody issued."""
        return await self.database.read(lambda connection: _shown(connection, token))

    async def of_session(self, bank: str, session_id: str) -> list[Shown]:
        """What a session was shown, oldest first."""

        def work(connection: sqlite3.Connection) -> list[Shown]:
            rows = connection.execute(
                "SELECT token FROM steers WHERE bank = ? AND session_id = ?"
                " ORDER BY shown_at, rowid",
                (bank, session_id),
            ).fetchall()
            found = [_shown(connection, str(row[0])) for row in rows]
            return [item for item in found if item is not None]

        return await self.database.read(work)

    async def redeem(
        self, token: str, fact_id: str, *, outcome: str, session_id: str, limit: int
    ) -> Redeemed:
        """Count an answer once.

        Args:
            token: As it was shown.
            fact_id: One of its facts.
            outcome: ``useful`` or ``unhelpful``.
            session_id: Who answers.
            limit: So many answers count a fact and session.
        """
        now = self._now()

        def work(connection: sqlite3.Connection) -> Redeemed:
            found = _shown(connection, token)
            if found is None:
                return "unknown_token"
            if fact_id not in found.fact_ids:
                return "not_in_steer"
            [answered] = connection.execute(
                "SELECT outcome FROM steer_facts WHERE token = ? AND fact_id = ?",
                (token, fact_id),
            ).fetchone()
            if answered is not None:
                return "duplicate"
            [count] = connection.execute(
                "SELECT count(*) FROM steer_facts AS f JOIN steers AS s ON s.token = f.token"
                " WHERE s.bank = ? AND f.fact_id = ? AND f.answered_in = ?",
                (found.bank, fact_id, session_id),
            ).fetchone()
            if count >= limit:
                return "session_limit"
            connection.execute(
                "UPDATE steer_facts SET outcome = ?, answered_in = ?, answered_at = ?"
                " WHERE token = ? AND fact_id = ?",
                (outcome, session_id, now, token, fact_id),
            )
            return "accepted"

        return await self.database.write(work)

    async def release(self, token: str, fact_id: str) -> None:
        """Take an accepted answer back: what it should have changed could not be changed."""
        await self.database.write(
            lambda connection: (
                connection.execute(
                    "UPDATE steer_facts SET outcome = NULL, answered_in = NULL, answered_at = NULL"
                    " WHERE token = ? AND fact_id = ?",
                    (token, fact_id),
                ).rowcount
            )
        )

    def _now(self) -> float:
        return self._clock().timestamp()


def _shown(connection: sqlite3.Connection, token: str) -> Shown | None:
    row = connection.execute(
        "SELECT bank, session_id, shown_at FROM steers WHERE token = ?", (token,)
    ).fetchone()
    if row is None:
        return None
    facts = connection.execute(
        "SELECT fact_id FROM steer_facts WHERE token = ? ORDER BY position", (token,)
    )
    return Shown(token, row[0], row[1], tuple(str(one[0]) for one in facts), row[2])
