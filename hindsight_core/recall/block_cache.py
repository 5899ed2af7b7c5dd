"""The same request a moment later gets the same block (s1/S-REC-6)."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from hindsight_core.turns import RecallOutcome, Turn

if TYPE_CHECKING:
    from hindsight_core.services import Clock

MAX_KEPT = 16
HIT, ORIGIN = "cache", "cache_origin"
Key = tuple[tuple[str, ...], str, str, frozenset[str]]


class BlockCache:
    """Kept by the banks and the user's words; a transcript that grew by a nudge is the same.

    What is before the model already is part of the key: a block must not repeat it.

    Args:
        clock: Aware UTC now.
        ttl_ms: How long a block is good for; 0 keeps none.
    """

    def __init__(self, clock: Clock, *, ttl_ms: int) -> None:
        self._clock = clock
        self._ttl = timedelta(milliseconds=ttl_ms)
        self._kept: OrderedDict[Key, tuple[datetime, str, RecallOutcome]] = OrderedDict()

    def get(self, turn: Turn) -> RecallOutcome | None:
        """The outcome of the same request, marked as such; None when there is none."""
        found = self._kept.get(_key(turn))
        if found is None:
            return None
        stored, origin, outcome = found
        if not timedelta(0) <= self._clock() - stored <= self._ttl:
            del self._kept[_key(turn)]
            return None
        return replace(outcome, details={**outcome.details, HIT: "hit", ORIGIN: origin})

    def put(self, turn: Turn, outcome: RecallOutcome) -> None:
        """Keep what was answered; what failed, in whole or in part, is asked again."""
        if not self._ttl or outcome.outcome not in ("injected", "empty"):
            return
        if any(item.error for item in outcome.searched):
            return
        self._kept[_key(turn)] = (self._clock(), turn.id, outcome)
        while len(self._kept) > MAX_KEPT:
            self._kept.popitem(last=False)


def _key(turn: Turn) -> Key:
    return (turn.banks, turn.session_id, turn.prompt.strip(), turn.shown)
