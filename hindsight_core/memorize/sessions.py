"""Which windows of a session are due: after the cursor, on the active path (pi/X-07, M-07)."""

from __future__ import annotations

import asyncio
import logging
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hindsight_core.errors import BankError
from hindsight_core.identity import document_id
from hindsight_core.memorize.inherited import BACKEND, Inherited, inherited
from hindsight_core.state.bank_file import recognise
from hindsight_core.transcript.entry import Window
from hindsight_core.transcript.path import active_path
from hindsight_core.transcript.projections import memorize_text
from hindsight_core.transcript.windows import live_ranges, saved_entries, window_entries

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hindsight_core.memorize.parts import Parts
    from hindsight_core.transcript.entry import Entry, Transcript

logger = logging.getLogger("hindsight_core.memorize")
RESAVE = "resave"
WINDOW_CHUNKS = 8
EXPLICIT = frozenset({"manual", RESAVE, "import"})


@dataclass(frozen=True, slots=True)
class Cut:
    """A window and its place in the session.

    Attributes:
        session_id: The session.
        window: What to look at; None when nothing was said in it.
        document_id: By the first and last entry as the host recorded them (pi/M-06, br/BR-05).
        last_entry_id: Where the cursor goes: the next window starts right after it (pi/M-07).
        entry_ids: All entries as recorded.
    """

    session_id: str
    window: Window | None
    document_id: str
    last_entry_id: str
    entry_ids: tuple[str, ...] = ()


class SessionWindows:
    """Cuts windows and keeps jobs of one session in their order.

    Args:
        parts: Cursors, saved ranges, the sanitising boundary.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._locks: weakref.WeakValueDictionary[str, asyncio.Lock] = weakref.WeakValueDictionary()

    def turn(self, session_id: str) -> asyncio.Lock:
        """Held by one job of a session at a time, first come, first served (pi/M-03)."""
        lock = self._locks.get(session_id)
        if lock is None:
            lock = self._locks[session_id] = asyncio.Lock()
        return lock

    async def recognise(self) -> None:
        """Start anew where the bank's file is another one than before.

        Only banks that are files have an ``identity()``; one that does not answer changes nothing.
        """
        identity = getattr(self._parts.bank, "identity", None)
        if identity is None:
            return
        try:
            found = await identity()
        except BankError:
            return
        bank, queue = self._parts.bank.id, self._parts.outbox.queue
        if not await recognise(queue, self._parts.sessions, bank, found):
            logger.warning("bank %s is a new file: what was in the old one does not count", bank)

    async def due(self, transcript: Transcript, *, reason: str, before: str | None) -> list[Cut]:
        """Windows not dealt with yet, oldest first.

        With a model a long session is stored piece by piece, so that a failure costs one piece.

        Args:
            transcript: The session.
            reason: ``resave`` starts at the beginning and ignores ``before`` (pi/M-05).
            before: The first entry that is left for later.
        """
        size = await self._size()
        bank, session = self._parts.bank.id, transcript.session_id
        path = self._path(transcript)
        resave = reason == RESAVE
        cursor = None if resave else await self._cursor(session, path)
        ranges = await self._parts.sessions.saved_ranges(bank, session)
        saved = saved_entries(path, ranges or self._inherited(path).ranges)
        until = None if resave or before is None else self._parts.sanitiser.entry_id(before)
        entries = window_entries(path, after=cursor, before=until)
        return [
            self._cut(transcript, piece, saved, reason=reason) for piece in _pieces(entries, size)
        ]

    async def _size(self) -> int | None:
        """About how many characters a window holds; None for one window."""
        stages = self._parts.stages
        if not stages.available("retain"):
            return None
        from hindsight_core.transcript.windows import chunk_size

        fraction = self._parts.settings.memorize.chunk_input_fraction
        window = await stages.models.context_window("retain")
        return WINDOW_CHUNKS * chunk_size(window, fraction)

    async def unseen(self, transcript: Transcript) -> tuple[Entry, ...]:
        """The entries behind the cursor, whatever the boundary (pi/M-08)."""
        path = self._path(transcript)
        cursor = await self._cursor(transcript.session_id, path)
        return window_entries(path, after=cursor, before=None)

    async def pass_over(self, transcript: Transcript) -> None:
        """Nothing of it is ever looked at for this bank."""
        if path := self._path(transcript):
            await self._parts.sessions.set_cursor(
                self._parts.bank.id, transcript.session_id, path[-1].id
            )

    async def passed(self, transcript: Transcript, entry_id: str) -> None:
        """Forget saved ranges that the cursor has left behind (pi/X-06)."""
        bank, session = self._parts.bank.id, transcript.session_id
        ranges = await self._parts.sessions.saved_ranges(bank, session)
        if not ranges:
            return
        live = live_ranges(self._path(transcript), ranges, cursor=entry_id)
        if live != ranges:
            await self._parts.sessions.set_saved_ranges(bank, session, live)

    def _path(self, transcript: Transcript) -> tuple[Entry, ...]:
        """The active path by ids that may be kept: cursors and windows are named by them."""
        return tuple(map(self._parts.sanitiser.identified, active_path(transcript.entries)))

    async def _cursor(self, session_id: str, path: Sequence[Entry]) -> str | None:
        """The last entry on this path that is dealt with, whatever other branches saw."""
        ids = [entry.id for entry in path]
        own = await self._parts.sessions.cursor(self._parts.bank.id, session_id, path=ids)
        return own or self._inherited(path).watermark

    def _inherited(self, path: Sequence[Entry]) -> Inherited:
        return inherited(path) if self._parts.bank.backend == BACKEND else Inherited()

    def _cut(
        self,
        transcript: Transcript,
        piece: Sequence[Entry],
        saved: frozenset[str],
        *,
        reason: str,
    ) -> Cut:
        clean = self._parts.sanitiser.entries(piece)
        window = Window(
            session_id=transcript.session_id,
            host=transcript.host,
            entries=clean,
            saved=frozenset(entry.id for entry in clean if entry.id in saved),
            project=self._parts.project,
            reason=reason,
        )
        return Cut(
            session_id=transcript.session_id,
            window=window if any(map(memorize_text, clean)) else None,
            document_id=document_id(
                transcript.session_id, piece[0].id, piece[-1].id, host=transcript.host
            ),
            last_entry_id=piece[-1].id,
            entry_ids=tuple(entry.id for entry in piece),
        )


def whole(window: Window) -> Cut:
    """A window that somebody else has cut, on its own."""
    first, last = window.entries[0].id, window.entries[-1].id
    identity = document_id(window.session_id, first, last, host=window.host)
    return Cut(window.session_id, window, identity, last)


def _pieces(entries: Sequence[Entry], max_chars: int | None) -> Iterator[tuple[Entry, ...]]:
    """Runs of entries of about the size, each beginning with a message of the user if it can."""
    if max_chars is None:
        if entries:
            yield tuple(entries)
        return
    piece: list[Entry] = []
    size = 0
    for entry in entries:
        length = len(memorize_text(entry))
        full = size >= max_chars // 2 and entry.role == "user"
        if piece and (full or size + length > max_chars):
            yield tuple(piece)
            piece, size = [], 0
        piece.append(entry)
        size += length
    if piece:
        yield tuple(piece)
