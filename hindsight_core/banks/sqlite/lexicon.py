"""What the index knows about words: how rare each is, and which known words a typo may mean."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from hindsight_core.banks.sqlite.stems import Stemmer

_CACHED = 50_000
_NEAR_MISSES = 24
_DRIFT = 1.1
PREFIX = 0.5
_SPELLED = 4


@dataclass(frozen=True, slots=True)
class Spelling:
    """A word of the bank that an unknown word may mean; ``likeness`` is 0..1."""

    word: str
    likeness: float


class Lexicon:
    """Word statistics of one bank.

    Frequencies are cached while the bank keeps about its size: they only weigh words. A word
    that was unknown is always asked again, so that a new fact is found at once.
    """

    def __init__(self, stemmer: Stemmer) -> None:
        self.stemmer = stemmer
        self._size = 0
        self._frequencies: dict[str, int] = {}

    def size(self, connection: sqlite3.Connection) -> int:
        """Valid facts."""
        found = connection.execute("SELECT total(n) FROM counts WHERE what = 'valid'").fetchone()
        now = int(found[0])
        if (
            not self._size / _DRIFT <= now <= self._size * _DRIFT
            or len(self._frequencies) > _CACHED
        ):
            self._frequencies = {}
            self._size = now
        return now

    def frequencies(self, connection: sqlite3.Connection, stems: Iterable[str]) -> dict[str, int]:
        """In how many index entries each stem stands, neighbours' words included."""
        asked = set(stems)
        fresh = [stem for stem in asked if stem not in self._frequencies]
        for stem in fresh:
            row = connection.execute(
                "SELECT doc FROM words_terms WHERE term = ?", (stem,)
            ).fetchone()
            if row is not None:
                self._frequencies[stem] = row[0]
        return {stem: self._frequencies.get(stem, 0) for stem in asked}

    def spellings(self, connection: sqlite3.Connection, word: str) -> list[Spelling]:
        """Known words that look like this one, most alike first."""
        grams = [f'"{word[i : i + 3]}"' for i in range(len(word) - 2)]
        if not grams:
            return []
        rows = connection.execute(
            "SELECT word FROM spellings WHERE spellings MATCH ? ORDER BY rank LIMIT ?",
            (" OR ".join(grams), _NEAR_MISSES),
        )
        scored = [Spelling(found, likeness(word, found)) for (found,) in rows]
        return sorted((s for s in scored if s.likeness > 0), key=lambda s: (-s.likeness, s.word))


def rarity(frequency: int, size: int) -> float:
    """Inverse document frequency as bm25 has it; never negative."""
    return math.log(1 + (size - min(frequency, size) + 0.5) / (frequency + 0.5))


def likeness(word: str, known: str) -> float:
    """How alike a word is to a known one, 0..1; 0 when they differ in more than a typist's slips.

    Two neighbours swapped in a word of four letters, one slip up to seven, two up to twelve,
    then three. A known word that only goes on (``auth``, ``authentication``) counts a little.
    """
    length = len(word)
    allowed = 1 if length < 8 else 2 if length < 13 else 3
    if abs(len(known) - length) <= allowed and (length > _SPELLED or sorted(word) == sorted(known)):
        distance = edits(word, known)
        if distance <= allowed:
            return 1 - distance / max(length, len(known))
    return PREFIX if known.startswith(word) and length >= _SPELLED else 0.0


def edits(one: str, other: str) -> int:
    """Insertions, deletions, replacements and swaps of neighbours between two words."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        line = [i]
        for j, b in enumerate(other, 1):
            cost = min(last[j] + 1, line[j - 1] + 1, last[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            line.append(cost)
        before, last = last, line
    return last[-1]
