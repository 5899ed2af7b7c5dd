"""The active path of a live session, kept from whole lists or from what follows a known entry."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hindsight_core.errors import HindsightError
from hindsight_core.transcript.wire import entries_from_wire

if TYPE_CHECKING:
    from hindsight_core.services import BridgeAccess
    from hindsight_core.transcript.entry import Entry

logger = logging.getLogger("hindsight_core.engine")


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

    def discarded(self, params: Mapping[str, Any]) -> tuple[tuple[Entry, ...], str | None]:
        """What a compaction takes away: entries, and the first of them that stays.

        It is told as ``entries``, or as ``firstKept`` of this path. A boundary that is unknown
        here gives the whole path: rather too much than lost (br/BR-22).
        """
        raw = params.get("entries")
        if not isinstance(raw, list) or not raw:
            kept = params.get("firstKept")
            known = any(entry.id == kept for entry in self.entries)
            return self.entries, kept if known else None
        gone = self._read(raw)
        last = gone[-1].id if gone else None
        for place, entry in enumerate(self.entries):
            if entry.id == last:
                after = self.entries[place + 1 : place + 2]
                return self.entries, after[0].id if after else None
        return gone, None

    def _read(self, raw: Sequence[Any]) -> tuple[Entry, ...]:
        decoded = entries_from_wire(raw)
        self.unknown += decoded.unknown
        return decoded.entries


async def follow(path: LivePath, params: Mapping[str, Any], *, bridge: BridgeAccess) -> bool:
    """Take the path out of a call's parameters, or ask the host for it; False: resync."""
    if path.update(params):
        return True
    if "entries" not in bridge.capabilities:
        return False
    try:
        reply = await bridge.request("host/entries", {})
    except HindsightError as error:
        logger.info("no entries from the host: %s", error)
        return False
    entries = reply.get("entries")
    if not isinstance(entries, list):
        return False
    path.replace(entries)
    return True
