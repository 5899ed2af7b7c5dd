"""Words of software work that mean the same: near synonyms, and other languages' words.

Data of this package, the same for every bank: it knows nothing of what a bank holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hindsight_core.banks.sqlite.stems import Stemmer

_DATA = Path(__file__).parent / "data"
_LONGEST_HAN = 6
_SHORTEST = 4
_ENDING = 3
_COMPOUND = 8
_LINKS = ("", "s", "n", "en", "es")
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]+")


class Synonyms:
    """Groups of words that people use for one thing, by stem."""

    def __init__(self, stemmer: Stemmer) -> None:
        self._stemmer = stemmer
        self._groups: dict[str, tuple[str, ...]] | None = None

    def of(self, stem: str) -> tuple[str, ...]:
        """Stems of the words that may stand for this one."""
        if self._groups is None:
            self._groups = self._read()
        return self._groups.get(stem, ())

    def _read(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, dict[str, None]] = {}
        for line in _lines("related.txt"):
            stems = list(dict.fromkeys(self._stemmer.stems(line.split())))
            for stem in stems:
                found.setdefault(stem, {}).update(dict.fromkeys(s for s in stems if s != stem))
        return {stem: tuple(others) for stem, others in found.items()}


@dataclass(frozen=True, slots=True)
class Dictionary:
    """Words of one language and their English ones."""

    entries: Mapping[str, tuple[str, ...]]
    beginnings: Mapping[str, tuple[str, ...]]

    def english(self, word: str, *, exact: bool = False) -> tuple[str, ...]:
        """English words for a word, its inflected forms, or the parts of its compound."""
        parts = [word] if word in self.entries else [] if exact else self._parts(word)
        return tuple(dict.fromkeys(e for part in parts for e in self.entries[part]))

    def _parts(self, word: str) -> list[str]:
        whole = self._form_of(word)
        if whole is not None:
            return [whole]
        if len(word) < _COMPOUND:
            return []
        for cut in range(len(word) - _SHORTEST + 1, _SHORTEST - 1, -1):
            head = self._form_of(word[cut:])
            front = self._front(word[:cut]) if head else None
            if head and front:
                return [front, head]
        return []

    def _front(self, part: str) -> str | None:
        bare = (part.removesuffix(link) for link in _LINKS if part.endswith(link))
        return next((found for word in bare if (found := self._form_of(word))), None)

    def _form_of(self, word: str) -> str | None:
        """The entry with the same beginning, but for an ending of a few letters."""
        if word in self.entries:
            return word
        near = self.beginnings.get(word[:_SHORTEST], ()) if len(word) >= _SHORTEST else ()
        scored = [(_common(word, entry), entry) for entry in near]
        fitting = [
            (common, entry)
            for common, entry in scored
            if max(len(word), len(entry)) - common <= _ENDING
        ]
        return max(fitting, default=(0, None))[1]


@cache
def dictionary(language: str) -> Dictionary | None:
    """The dictionary of a language, or None."""
    name = f"glossary.{language}.txt"
    if not (_DATA / name).exists():
        return None
    entries: dict[str, tuple[str, ...]] = {}
    beginnings: dict[str, tuple[str, ...]] = {}
    for line in _lines(name):
        for entry in line.split(";"):
            word, *english = entry.casefold().split()
            entries[word] = tuple(english)
    for word in entries:
        beginnings[word[:_SHORTEST]] = (*beginnings.get(word[:_SHORTEST], ()), word)
    return Dictionary(entries, beginnings)


def han_words(text: str) -> tuple[dict[str, tuple[str, ...]], str]:
    """Known words of Chinese and Japanese runs with their English ones, and the text without."""
    known = dictionary("zh")
    found: dict[str, tuple[str, ...]] = {}
    if known is None or not _HAN.search(text):
        return found, text
    entries = known.entries

    def take(run: re.Match[str]) -> str:
        return "".join(pieces(run.group()))

    def pieces(chars: str) -> Iterator[str]:
        position = 0
        while position < len(chars):
            longest = range(min(_LONGEST_HAN, len(chars) - position), 0, -1)
            words = (chars[position : position + length] for length in longest)
            word = next((w for w in words if w in entries), None)
            if word is None:
                yield chars[position]
            else:
                found[word] = entries[word]
                yield " "
            position += len(word or " ")

    return found, _HAN.sub(take, text)


def translations(word: str, languages: Iterable[str], *, exact: bool = False) -> tuple[str, ...]:
    """English words for a word of one of these languages."""
    found: list[str] = []
    for language in languages:
        known = dictionary(language)
        if known is not None:
            found += known.english(word, exact=exact)
    return tuple(dict.fromkeys(found))


def _common(one: str, other: str) -> int:
    length = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        length += 1
    return length


def _lines(name: str) -> list[str]:
    text = (_DATA / name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
