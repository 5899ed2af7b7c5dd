"""What a query asks for: its words, their weights, and what else each may be called."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from hindsight_core.banks.sqlite.glossary import Glossary
from hindsight_core.banks.sqlite.lexicon import Lexicon, rarity
from hindsight_core.banks.sqlite.stopwords import without_stop_words

MAX_TERMS = 12
_CONTEXT_TERMS = 8
_CONTEXT_CHARS = 1500
_CONTEXT_WEIGHT = 0.35
_NAME_WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class Term:
    """One idea of a query.

    Attributes:
        word: As it was asked.
        forms: Stem to strength, 0..1: the word itself, corrections, related words.
        weight: Rarity times importance.
        asked: Counts for coverage: a word of the query, no context and no joined name.
        known: The bank holds it in some form.
    """

    word: str
    forms: Mapping[str, float]
    weight: float
    asked: bool = True
    known: bool = True


@dataclass(frozen=True, slots=True)
class Analysis:
    """A query taken apart; terms by weight, at most `MAX_TERMS` of the query itself."""

    terms: tuple[Term, ...]
    size: int

    @property
    def forms(self) -> dict[str, float]:
        """Every stem worth looking for."""
        return {stem: term.weight * s for term in self.terms for stem, s in term.forms.items()}


class Analyst:
    """Takes queries apart for one bank."""

    def __init__(self, lexicon: Lexicon, glossary: Glossary) -> None:
        self._lexicon = lexicon
        self._glossary = glossary

    def analyse(
        self, connection: sqlite3.Connection, text: str, *, context: str | None = None
    ) -> Analysis:
        """Terms of a query, expanded from the conversation before it."""
        size = self._lexicon.size(connection)
        words, names = without_stop_words(text)
        terms = [self._term(connection, word, size) for word in words]
        terms = _heaviest(terms, MAX_TERMS)
        held = {stem for term in terms for stem in term.forms}
        terms += self._names(connection, names, size, held)
        if context:
            terms += self._context(connection, context, size, held)
        return Analysis(terms=tuple(terms), size=size)

    def _term(self, connection: sqlite3.Connection, word: str, size: int) -> Term:
        stem = self._lexicon.stemmer.stem(word)
        related = self._glossary.related(word)
        candidates = {stem: 1.0}
        for other, strength in related.items():
            found = self._lexicon.stemmer.stem(other)
            candidates[found] = max(candidates.get(found, 0.0), strength)
        counts = self._lexicon.frequencies(connection, candidates)
        if not any(counts.values()):
            candidates = self._corrected(connection, word)
            counts = self._lexicon.frequencies(connection, candidates)
        forms = {form: s for form, s in candidates.items() if counts[form]}
        if not forms:
            return Term(word, {}, rarity(0, size), known=False)
        strongest = max(forms.values())
        best = max(counts[form] for form, s in forms.items() if s == strongest)
        return Term(word, forms, rarity(best, size))

    def _corrected(self, connection: sqlite3.Connection, word: str) -> dict[str, float]:
        spellings = self._lexicon.spellings(connection, word)[:4]
        best = spellings[0].likeness if spellings else 0.0
        forms: dict[str, float] = {}
        for spelling in spellings:
            if spelling.likeness >= best - 0.15:
                stem = self._lexicon.stemmer.stem(spelling.word)
                forms[stem] = max(forms.get(stem, 0.0), spelling.likeness)
        return forms

    def _names(
        self, connection: sqlite3.Connection, names: Iterable[str], size: int, held: set[str]
    ) -> list[Term]:
        stems = dict(zip(names, self._lexicon.stemmer.stems(names), strict=True))
        counts = self._lexicon.frequencies(connection, stems.values())
        return [
            Term(name, {stem: 1.0}, _NAME_WEIGHT * rarity(counts[stem], size), asked=False)
            for name, stem in stems.items()
            if counts[stem] and stem not in held
        ]

    def _context(
        self, connection: sqlite3.Connection, context: str, size: int, held: set[str]
    ) -> list[Term]:
        words, _ = without_stop_words(context[-_CONTEXT_CHARS:])
        terms = [self._term(connection, word, size) for word in words]
        fresh = [t for t in terms if t.known and not held & t.forms.keys()]
        return [
            replace(t, weight=t.weight * _CONTEXT_WEIGHT, asked=False)
            for t in _heaviest(fresh, _CONTEXT_TERMS)
        ]


def _heaviest(terms: list[Term], most: int) -> list[Term]:
    by_forms = {tuple(sorted(t.forms)) or (t.word,): t for t in reversed(terms)}
    return sorted(by_forms.values(), key=lambda t: (not t.known, -t.weight))[:most]
