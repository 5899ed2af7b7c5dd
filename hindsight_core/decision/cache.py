"""Answers of a moment ago, for the same question about the same message (s1/S-DEC-12)."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from hindsight_core.services import Clock

V = TypeVar("V")
MAX_KEPT = 64


class AnswerCache(Generic[V]):
    """Kept by the prefixed ids that were offered and the content of the last user message.

    What a fallback routed is never put in here: a model that is back is asked at once.

    Args:
        clock: Aware UTC now.
        ttl_ms: How long an answer is good for; 0 keeps none.
    """

    def __init__(self, clock: Clock, *, ttl_ms: int) -> None:
        self._clock = clock
        self._ttl = timedelta(milliseconds=ttl_ms)
        self._kept: OrderedDict[str, tuple[datetime, V]] = OrderedDict()

    def get(self, questions: Iterable[str], message: str) -> V | None:
        """The answer, unless it is too old."""
        key = _key(questions, message)
        found = self._kept.get(key)
        if found is None:
            return None
        if not timedelta(0) <= self._clock() - found[0] <= self._ttl:
            del self._kept[key]
            return None
        return found[1]

    def put(self, questions: Iterable[str], message: str, answer: V) -> None:
        """Keep an answer; the oldest of many goes."""
        if not self._ttl:
            return
        self._kept[_key(questions, message)] = (self._clock(), answer)
        while len(self._kept) > MAX_KEPT:
            self._kept.popitem(last=False)


def _key(questions: Iterable[str], message: str) -> str:
    # A read: and a write: question about one bank differ, so the two calls share nothing.
    digest = hashlib.sha256("\x00".join(questions).encode("utf-8", "replace"))
    digest.update(b"\x01" + message.encode("utf-8", "replace"))
    return digest.hexdigest()
