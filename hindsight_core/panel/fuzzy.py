"""Fuzzy matching: words in any order, letters with gaps, the best matches first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")
# A word whose letters lie further apart than this is no match, only a coincidence.
LOOSEST = 0.5


def score(query: str, text: str) -> float | None:
    """How well a text matches every word of a query; None when one of them does not."""
    there = text.casefold()
    found = [_word(word, there) for word in query.casefold().split()]
    return None if None in found else sum(part for part in found if part is not None)


def best(query: str, items: Iterable[T], *, text: Callable[[T], str]) -> Sequence[T]:
    """Items that match, best first; equally good ones stay in their order."""
    if not query.strip():
        return list(items)
    scored = [(score(query, text(item)), item) for item in items]
    matching = [(points, item) for points, item in scored if points is not None]
    return [item for _, item in sorted(matching, key=lambda pair: -pair[0])]


def _word(word: str, text: str) -> float | None:
    """2 and more for the word itself, under 1 for its letters in their order."""
    at = text.find(word)
    if at >= 0:
        begins = at == 0 or not text[at - 1].isalnum()
        return 2.5 if begins else 2.0
    return _letters(word, text)


def _letters(word: str, text: str) -> float | None:
    tightest: float | None = None
    start = text.find(word[0])
    while start >= 0:
        end = start
        for letter in word[1:]:
            end = text.find(letter, end + 1)
            if end < 0:
                return tightest
        tight = len(word) / (end - start + 1)
        if tight >= LOOSEST and (tightest is None or tight > tightest):
            tightest = tight
        start = text.find(word[0], start + 1)
    return tightest
