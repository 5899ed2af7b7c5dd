"""The active path of a live session, kept from whole lists or from what follows a known entry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hindsight_core.transcript.wire import entries_from_wire

if TYPE_CHECKING:
    from hindsight_core.transcript.entry import Entry


class LivePath:
    """The entries before the model, oldest first."""

    def __init__(self) -> None:
        self.entries: tuple[Entry, ...] = ()
        self.unknown = 0

    def update(self, params: Mapping[str, Any]) -> bool:
        """Take ``entries`` and ``since``; False when ``since`` is unknown here (resync)."""
        raw = params.get("entries")
        sent = self._read(raw if isinstance(raw, list) else [])
        since = params.get("since")
        if not isinstance(since, str):
            # A host that sends nothing says nothing about the path.
            if raw is not None:
                self.entries = sent
            return True
        for place in range(len(self.entries) - 1, -1, -1):
            if self.entries[place].id == since:
                self.entries = (*self.entries[: place + 1], *sent)
                return True
        return False

    def replace(self, raw: Sequence[Any]) -> None:
        """Take a whole path, as ``host/entries`` gives it."""
        self.entries = self._read(raw)

    def discarded(self, params: Mapping[str, Any]) -> tuple[Entry, ...]:
        """What a compaction takes away: ``entries``, or this path up to ``firstKept``.

        A boundary that is unknown here gives the whole path: rather too much than lost.
        """
        raw = params.get("entries")
        if isinstance(raw, list) and raw:
            return self._read(raw)
        kept = params.get("firstKept")
        for place, entry in enumerate(self.entries):
            if entry.id == kept:
                return self.entries[:place]
        return self.entries

    def _read(self, raw: Sequence[Any]) -> tuple[Entry, ...]:
        decoded = entries_from_wire(raw)
        self.unknown += decoded.unknown
        return decoded.entries
