"""Weighs what a search found by how the facts stand (am/A-RANK)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hindsight_core.memorize.lifecycle.decay import clamp

if TYPE_CHECKING:
    from hindsight_core.memory import Hit
    from hindsight_core.state.life import LifeRecord

ASSISTANT_PRIORITY = 0.55


@dataclass(frozen=True, slots=True)
class Weighed:
    """A hit, its record, and its score by both."""

    hit: Hit
    record: LifeRecord
    score: float


def weight(record: LifeRecord) -> float:
    """0..1: priority times half and half the confidence."""
    priority = record.priority
    if not math.isfinite(priority):
        priority = ASSISTANT_PRIORITY if record.told.actor == "assistant" else 1.0
    return max(0.0, priority) * (0.5 + 0.5 * clamp(record.confidence, 0, 1))


def ranked(hits: Iterable[Hit], records: Mapping[str, LifeRecord]) -> list[Weighed]:
    """Hits by their weighed score, best first; each needs a record under its fact's id."""
    found = [
        Weighed(hit, record := records[hit.fact.id], hit.score * weight(record)) for hit in hits
    ]
    return sorted(found, key=lambda item: -item.score)
