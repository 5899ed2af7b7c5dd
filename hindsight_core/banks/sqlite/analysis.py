"""What a query asks for: its words, their weights, and what else each may be called."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from hindsight_core.banks.sqlite.glossary import Synonyms, han_words, translations
from hindsight_core.banks.sqlite.lexicon import Lexicon, rarity
from hindsight_core.banks.sqlite.names import proper_names
from hindsight_core.banks.sqlite.stopwords import Asked, without_stop_words

MAX_TERMS = 12
_CONTEXT_TERMS = 8
_CONTEXT_CHARS = 1500
_CONTEXT_WEIGHT = 0.35
_NAME_WEIGHT = 0.5
# How much a fact that holds another word for the same thing has of the word asked for.
SYNONYM = 0.3
TRANSLATED = 0.9
_CYRILLIC = re.compile(r"[\u0400-\u04ff]")


@dataclass(frozen=True, slots=True)
class Term:
    """One idea of a query.

    Attributes:
        word: As it was asked.
        forms: Stem to strength, 0..1: the word itself, corrections, related words.
        weight: Rarity times importance.
        counts: Stem to the number of index entries with it.
        asked: Counts for coverage: a word of the query, no context and no joined name.
        known: The bank holds it in some form.
    """

    word: str
    forms: Mapping[str, float]
    weight: float
    counts: Mapping[str, int] = field(default_factory=dict)
    asked: bool = True
    known: bool = True


@dataclass(frozen=True, slots=True)
class Analysis:
    """A query taken apart.

    Attributes:
        terms: By weight, at most `MAX_TERMS` of the query itself.
        size: Valid facts in the bank.
        names: Proper names and identifiers asked for, each as the stems that it may stand under.
    """

    terms: tuple[Term, ...]
    size: int
    names: tuple[frozenset[str], ...] = ()

    @property
    def frequencies(self) -> dict[str, int]:
        """Every stem worth looking for, with the number of entries that hold it."""
        return {stem: n for term in self.terms for stem, n in term.counts.items()}


class Analyst:
    """Takes queries apart for one bank."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._synonyms = Synonyms(lexicon.stemmer)

    def analyse(
        self, connection: sqlite3.Connection, text: str, *, context: str | None = None
    ) -> Analysis:
        """Terms of a query, expanded from the conversation before it."""
        size = self._lexicon.size(connection)
        terms, asked = self._terms(connection, text, size)
        terms = _heaviest(terms, MAX_TERMS)
        names = self._proper(connection, text, asked, terms)
        held = {stem for term in terms for stem in term.forms}
        terms += self._names(connection, asked.names, size, held)
        if context:
            terms += self._context(connection, context, size, held)
        return Analysis(terms=tuple(terms), size=size, names=names)

    def _terms(
        self, connection: sqlite3.Connection, text: str, size: int
    ) -> tuple[list[Term], Asked]:
        han, rest = han_words(text)
        asked = without_stop_words(rest)
        terms = [self._term(connection, word, asked, size) for word in asked.words]
        if han:
            # What is left of a run between known words is mostly grammar.
            terms = [term for term in terms if term.known or term.word.isascii()]
        terms += [self._foreign(connection, word, english, size) for word, english in han.items()]
        return terms, asked

    def _term(self, connection: sqlite3.Connection, word: str, asked: Asked, size: int) -> Term:
        stem = self._lexicon.stemmer.stem(word)
        candidates = {stem: 1.0}
        counts = self._lexicon.frequencies(connection, candidates)
        known = counts[stem] > 0
        english = _english(word, asked, known=known)
        for other in self._lexicon.stemmer.stems(english):
            candidates.setdefault(other, TRANSLATED)
        for form, strength in tuple(candidates.items()):
            for other in self._synonyms.of(form):
                candidates.setdefault(other, SYNONYM * strength)
        if not known and not english:
            candidates.update(self._corrected(connection, word))
        return self._weighed(connection, word, candidates, size)

    def _foreign(
        self, connection: sqlite3.Connection, word: str, english: Iterable[str], size: int
    ) -> Term:
        forms = dict.fromkeys(self._lexicon.stemmer.stems(english), TRANSLATED)
        forms.update(dict.fromkeys(self._lexicon.stemmer.stems(_pairs(word)), 1.0))
        return self._weighed(connection, word, forms, size)

    def _weighed(
        self, connection: sqlite3.Connection, word: str, candidates: Mapping[str, float], size: int
    ) -> Term:
        counts = self._lexicon.frequencies(connection, candidates)
        forms = {form: s for form, s in candidates.items() if counts[form]}
        if not forms:
            return Term(word, {}, rarity(0, size), known=False)
        strongest = max(forms.values())
        # A word that the bank only knows by its relatives is as rare as one it does not know.
        best = max(counts[form] for form, s in forms.items() if s == strongest)
        held = {form: counts[form] for form in forms}
        return Term(word, forms, rarity(best, size), held, known=strongest > SYNONYM)

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
            Term(
                name,
                {stem: 1.0},
                _NAME_WEIGHT * rarity(counts[stem], size),
                {stem: counts[stem]},
                asked=False,
            )
            for name, stem in stems.items()
            if counts[stem] and stem not in held
        ]

    def _proper(
        self, connection: sqlite3.Connection, text: str, asked: Asked, terms: list[Term]
    ) -> tuple[frozenset[str], ...]:
        forms = {t.word: {f for f, s in t.forms.items() if s > SYNONYM} for t in terms}
        found = []
        for name in proper_names(text, asked.languages):
            stems = set(self._lexicon.stemmer.stems(name))
            stems.update(*(forms.get(word, ()) for word in name))
            if not any(self._lexicon.frequencies(connection, stems).values()):
                for word in name:
                    stems.update(self._corrected(connection, word))
            found.append(frozenset(stems))
        return tuple(found)

    def _context(
        self, connection: sqlite3.Connection, context: str, size: int, held: set[str]
    ) -> list[Term]:
        terms, _ = self._terms(connection, context[-_CONTEXT_CHARS:], size)
        fresh = [t for t in terms if t.known and not held & t.forms.keys()]
        return [
            replace(t, weight=t.weight * _CONTEXT_WEIGHT, asked=False)
            for t in _heaviest(fresh, _CONTEXT_TERMS)
        ]


def _english(word: str, asked: Asked, *, known: bool) -> tuple[str, ...]:
    """English words for a foreign one: of the query's language, or by its look when unknown."""
    if _CYRILLIC.search(word):
        return translations(word, ("ru",))
    found = translations(word, asked.languages)
    return found if found or known else translations(word, ("de",), exact=word.isascii())


def _pairs(word: str) -> list[str]:
    return [word[i : i + 2] for i in range(max(1, len(word) - 1))]


def _heaviest(terms: list[Term], most: int) -> list[Term]:
    by_forms = {tuple(sorted(t.forms)) or (t.word,): t for t in reversed(terms)}
    return sorted(by_forms.values(), key=lambda t: (not t.known, -t.weight))[:most]
