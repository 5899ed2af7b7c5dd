"""Session records of pi and its kin as protocol entries, followed while the session grows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from hindsight_core.transcript.entry import Entry
from hindsight_core.transcript.readers.pi import read_branch
from hindsight_core.transcript.wire import entry_to_wire

# A `since` that no session has: the core answers it with a resync.
UNKNOWN = "\x00unknown"


class Branch:
    """The active branch of a session tree; other branches never count (pi/D-25).

    Records are a chain in which some say nothing (model changes, our own marks). The core
    is told only of those that do, each linked to the one before it.
    """

    def __init__(self) -> None:
        self._chain: list[tuple[str, str | None]] = []

    def replace(self, records: Sequence[Any]) -> list[dict[str, Any]]:
        """Take a whole branch; gives all its entries."""
        self._chain.clear()
        return self._add(records)

    def update(self, payload: dict[str, Any]) -> dict[str, Any]:
        """``entries`` and ``since`` of an event, as those of a canonical call."""
        records, since = payload.get("entries"), payload.get("since")
        if not isinstance(records, list):
            return {}
        if not isinstance(since, str):
            return {"entries": self.replace(records)}
        for place in range(len(self._chain) - 1, -1, -1):
            if self._chain[place][0] == since:
                del self._chain[place + 1 :]
                break
        else:
            return {"entries": [], "since": UNKNOWN}
        last = self._last()
        entries = self._add(records)
        return {"entries": entries} if last is None else {"entries": entries, "since": last}

    def at_or_after(self, record_id: object) -> str | None:
        """The first entry from a record on; None when there is none, or no such record."""
        found = False
        for own, entry_id in self._chain:
            found = found or own == record_id
            if found and entry_id is not None:
                return entry_id
        return None

    def _last(self) -> str | None:
        return next((entry for _, entry in reversed(self._chain) if entry is not None), None)

    def _add(self, records: Sequence[Any]) -> list[dict[str, Any]]:
        wire = []
        for record in records:
            if not isinstance(record, dict):
                continue
            entry = self._read(record, self._said)
            own = record.get("id")
            if entry is not None:
                # The host may name a record that says nothing: what counts is the next that does.
                kept = self.at_or_after(entry.kept) if entry.kept else None
                wire.append(entry_to_wire(replace(entry, parent_id=self._last(), kept=kept)))
            if isinstance(own, str):
                self._chain.append((own, entry.id if entry else None))
        return wire

    def _said(self, record_id: str) -> str | None:
        """The entry that a record is or follows on this branch."""
        found = None
        for own, entry_id in self._chain:
            found = entry_id or found
            if own == record_id:
                return found
        return record_id

    @staticmethod
    def _read(record: dict[str, Any], said: Callable[[str], str | None]) -> Entry | None:
        return next(iter(read_branch([record], said=said)), None)
