"""What the write queue hands out: a claimed write, a row to look at, counts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from hindsight_core.memory import Document

JobState = Literal["pending", "dead"]


@dataclass(frozen=True, slots=True)
class WindowMark:
    """The end of a window, recorded together with its document.

    Attributes:
        session_id: The session.
        last_entry_id: The last entry of the window; the session's cursor is at least there.
        entry_ids: Every entry of the window. If one of them is in another document of this
            session already, whatever process stored that, the window is refused. Empty: nothing
            is compared, as a deliberate repetition wants it.
    """

    session_id: str
    last_entry_id: str
    entry_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Job:
    """A claimed write: only its holder may finish it.

    Attributes:
        id: Its place in the queue.
        owner: The lease; every later call checks it.
        attempts: Tries so far, this one included.
    """

    id: int
    bank: str
    document: Document
    content_hash: str
    session_id: str | None
    attempts: int
    owner: str


@dataclass(frozen=True, slots=True)
class Enqueued:
    """What became of an enqueue.

    Attributes:
        outcome: ``queued``; ``known`` when this very content was stored before; ``overlap``
            when an entry of the window is in another document, and nothing was done.
        job_id: The write in the queue; None for ``known``.
        fact_ids: From the earlier receipt, for ``known``.
        job: The write, claimed for the caller, when it was free and asked for.
    """

    outcome: Literal["queued", "known", "overlap"]
    job_id: int | None = None
    fact_ids: tuple[str, ...] = ()
    job: Job | None = None


@dataclass(frozen=True, slots=True)
class JobRow:
    """A write in the queue as a person looks at it; never its text.

    Attributes:
        state: ``pending`` or ``dead``.
        claimed: A process works on it now.
        attempts: Tries so far.
        next_at: Not tried before (UTC).
        reason: Why the last try failed.
    """

    id: int
    bank: str
    document_id: str
    session_id: str | None
    state: JobState
    claimed: bool
    attempts: int
    created_at: datetime
    next_at: datetime
    reason: str | None


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """How the queue stands.

    Attributes:
        pending: Writes that are durable here and not yet in their bank.
        dead: Writes given up, to be retried or purged by hand.
        set_aside: Unreadable records kept apart.
        paused_until: When the bank asked to be left alone, or is waited for; None when not.
        last_error: The reason of the last failure among what is left.
    """

    pending: int
    dead: int
    set_aside: int
    paused_until: datetime | None = None
    last_error: str | None = None


def moment(seconds: float) -> datetime:
    """A stored time as an aware datetime."""
    return datetime.fromtimestamp(seconds, UTC)
