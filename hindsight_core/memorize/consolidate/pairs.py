"""Which memories are alike enough to be shown together (am/A-COMP-1)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hindsight_core.memorize.capture.likeness import by_words, cosine, shared
from hindsight_core.memorize.lexicon import content_stems

if TYPE_CHECKING:
    from hindsight_core.memorize.lifecycle.memory import Memory

# A word that so many of many memories have says nothing about two of them.
_COMMON = 0.2
_MANY = 100


@dataclass(frozen=True, slots=True)
class Pair:
    """Two memories of one partition, by id, and how alike they are."""

    first: Memory
    second: Memory
    likeness: float

    @property
    def ids(self) -> tuple[str, str]:
        """Their ids, in order."""
        return self.first.fact.id, self.second.fact.id


def partition(memory: Memory) -> tuple[str, str, str, str]:
    """Memories are never consolidated across scope, kind, authority or project."""
    record = memory.record
    project = record.project if record.scope == "project" else ""
    return record.scope, memory.fact.kind, record.told.actor, project


def partitions(memories: Iterable[Memory]) -> list[list[Memory]]:
    """Memories that may be consolidated with one another, each part by id."""
    parts: dict[tuple[str, str, str, str], list[Memory]] = defaultdict(list)
    for memory in sorted(memories, key=lambda item: item.fact.id):
        parts[partition(memory)].append(memory)
    return [part for part in parts.values() if len(part) > 1]


def disjoint(pairs: Iterable[Pair], *, most: int) -> list[Pair]:
    """The likest pairs of which no memory is in two, at most so many."""
    taken: set[str] = set()
    found: list[Pair] = []
    for pair in sorted(pairs, key=lambda item: (-item.likeness, item.ids)):
        if len(found) == most:
            break
        if taken.isdisjoint(pair.ids):
            taken.update(pair.ids)
            found.append(pair)
    return found


def pairs_by_vectors(
    part: Sequence[Memory], vectors: Sequence[Sequence[float]], *, least: float
) -> list[Pair]:
    """Every pair whose vectors are that near."""
    scores = _products(vectors)
    return [
        Pair(part[i], part[j], scores[i][j])
        for i in range(len(part))
        for j in range(i + 1, len(part))
        if scores[i][j] >= least
    ]


def pairs_by_words(part: Sequence[Memory], *, least: float) -> list[Pair]:
    """Every pair that shares a telling word and is alike enough by words."""
    stems = [content_stems(memory.fact.text) for memory in part]
    holders: dict[str, list[int]] = defaultdict(list)
    for number, words in enumerate(stems):
        for word in words:
            holders[word].append(number)
    bound = max(_MANY, math.ceil(len(part) * _COMMON))
    near = {
        (one, other)
        for numbers in holders.values()
        if len(numbers) <= bound
        for at, one in enumerate(numbers)
        for other in numbers[at + 1 :]
        if shared(stems[one], stems[other]) >= least
    }
    return [
        Pair(part[one], part[other], by_words(part[one].fact.text, part[other].fact.text))
        for one, other in sorted(near)
    ]


def _products(vectors: Sequence[Sequence[float]]) -> Sequence[Sequence[float]]:
    try:
        import numpy as np
    except ImportError:
        return [[cosine(one, other) for other in vectors] for one in vectors]
    table = np.asarray(vectors, dtype=np.float64)
    norms = np.linalg.norm(table, axis=1, keepdims=True)
    unit = np.divide(table, norms, out=np.zeros_like(table), where=norms > 0)
    scores: Sequence[Sequence[float]] = (unit @ unit.T).tolist()
    return scores
