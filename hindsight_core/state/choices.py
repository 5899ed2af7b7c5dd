"""What a person chose for one session: its mode, what is switched off, tags (s1/S-SES-1)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from hindsight_core.state.sessions import SessionMode

if TYPE_CHECKING:
    import sqlite3

    from hindsight_core.state.sessions import SessionState

MODES: tuple[SessionMode, ...] = ("normal", "read-only", "ignored")
MOST_TAG_CHARS = 80


@dataclass(frozen=True, slots=True)
class Choices:
    """The choices of one session, over the configuration's and stricter only.

    Attributes:
        mode: ``normal``, ``read-only`` (nothing is written) or ``ignored`` (nor read).
        recall: False switches automatic and explicit recall off; a change of mode leaves it.
        retain: The same for what is written.
        next_opt_out: Nothing of the next completed turn is written.
        tags: Of everything that the session writes.
        broken: The record cannot be read: the session is ignored until a mode is chosen.
    """

    mode: SessionMode = "normal"
    recall: bool = True
    retain: bool = True
    next_opt_out: bool = False
    tags: tuple[str, ...] = ()
    broken: bool = False

    @property
    def why_no_recall(self) -> str | None:
        """Why nothing is recalled; None when it may be (s1/S-SES-2)."""
        if self.mode == "ignored":
            broken = "its record cannot be read, choose a mode" if self.broken else "its mode"
            return f"this session is ignored ({broken})"
        return None if self.recall else "recall is off in this session"

    @property
    def why_no_retain(self) -> str | None:
        """Why nothing is written; None when it may be."""
        if self.mode == "ignored":
            return self.why_no_recall
        if self.mode == "read-only":
            return "this session is read-only (its mode)"
        if not self.retain:
            return "retain is off in this session"
        return "this turn is left out" if self.next_opt_out else None


def is_tag(text: str) -> bool:
    """Whether a text can be a tag of a session (s1/S-SES-5)."""
    return 0 < len(text) <= MOST_TAG_CHARS and text.isprintable()


class SessionChoices:
    """Keeps the choices in state.db.

    Args:
        sessions: Whose file it shares.

    Raises:
        StorageError: From any method: the file cannot be read or written.
    """

    def __init__(self, sessions: SessionState) -> None:
        self._sessions = sessions

    async def get(self, session_id: str) -> Choices:
        """The choices; without a record the ordinary ones, one that is broken is ``ignored``."""
        return await self._sessions.database.read(lambda c: _read(c, session_id))

    async def change(self, session_id: str, change: Callable[[Choices], Choices]) -> Choices:
        """Change them in one transaction; what they are now."""
        now = self._sessions.now()

        def work(connection: sqlite3.Connection) -> Choices:
            after = replace(change(_read(connection, session_id)), broken=False)
            record: dict[str, Any] = asdict(after)
            mode = record.pop("mode")
            connection.execute(
                "INSERT INTO modes (session_id, mode, choices, updated_at) VALUES (?, ?, ?, ?)"
                " ON CONFLICT (session_id) DO UPDATE SET mode = excluded.mode,"
                " choices = excluded.choices, updated_at = excluded.updated_at",
                (session_id, mode, json.dumps(record), now),
            )
            return after

        return await self._sessions.database.write(work)


def _read(connection: sqlite3.Connection, session_id: str) -> Choices:
    row = connection.execute(
        "SELECT mode, choices FROM modes WHERE session_id = ?", (session_id,)
    ).fetchone()
    if row is None:
        return Choices()
    try:
        record = json.loads(row[1])
        if row[0] not in MODES:
            raise ValueError(row[0])
        return Choices(
            mode=row[0],
            recall=_flag(record, "recall", default=True),
            retain=_flag(record, "retain", default=True),
            next_opt_out=_flag(record, "next_opt_out", default=False),
            tags=tuple(str(tag) for tag in record.get("tags", ())),
        )
    except (ValueError, TypeError, AttributeError):
        # Whoever asked to be left alone must not be remembered because a record is broken.
        return Choices(mode="ignored", broken=True)


def _flag(record: dict[str, Any], name: str, *, default: bool) -> bool:
    value = record.get(name, default)
    if not isinstance(value, bool):
        raise TypeError(name)
    return value
