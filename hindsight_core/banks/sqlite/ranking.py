"""Scores candidates: which words of the query a fact holds, where, and how many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hindsight_core.banks.sqlite.analysis import Analysis, Term
from hindsight_core.banks.sqlite.stems import Stemmer

# What a neighbour's word counts: in the same document, or only stored beside it.
TOGETHER_WEIGHT = 0.4
BESIDE_WEIGHT = 0.25
_SATURATION = 0.8
_LENGTH = 0.1


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fact that the index gave: its row, its entry, and SQLite's own bm25 (higher is better).

    ``moment`` is in microseconds; ``told_together`` says that its neighbours come from the same
    document and not only from the same time.
    """

    row: int
    bm25: float
    body: str
    names: str
    near: str
    moment: int
    told_together: bool


@dataclass(frozen=True, slots=True)
class Score:
    """How well a candidate fits.

    Attributes:
        row: The fact.
        words: Weighted match, unbounded.
        rank: What hits are ordered by: the match, or its fusion with vectors.
        coverage: Share of the query's weight that the fact itself holds, 0..1.
        stems: Its own stems, for comparing candidates with each other.
        replaced_by: Row of a later fact that says anew what this one said.
    """

    row: int
    words: float
    rank: float
    coverage: float
    stems: frozenset[str]
    body: str
    moment: int
    replaced_by: int | None = None


def score_all(candidates: Sequence[Candidate], analysis: Analysis, stemmer: Stemmer) -> list[Score]:
    """Scores in the order of the candidates."""
    asked_by = _by_form(analysis.terms)
    total = sum(t.weight for t in analysis.terms if t.asked) or 1.0
    bodies, nears = _stemmed(candidates, stemmer)
    average = sum(map(len, bodies)) / (len(bodies) or 1) or 1.0
    scores = []
    for candidate, body, near_by in zip(candidates, bodies, nears, strict=True):
        own = frozenset(body)
        # Only the terms that this candidate has anything of: strength of its own words, then of
        # those beside it.
        found: dict[int, list[float]] = {}
        for form in own & asked_by.keys():
            count = body.count(form)
            for number, strength in asked_by[form]:
                at = found.setdefault(number, [0.0, 0.0])
                at[0] = max(at[0], strength * count)
        for form in near_by & asked_by.keys():
            for number, strength in asked_by[form]:
                at = found.setdefault(number, [0.0, 0.0])
                at[1] = max(at[1], strength)
        near_weight = TOGETHER_WEIGHT if candidate.told_together else BESIDE_WEIGHT
        norm = _SATURATION * (1 - _LENGTH + _LENGTH * len(body) / average)
        words = covered = 0.0
        for number in sorted(found):
            term, (strength, near) = analysis.terms[number], found[number]
            frequency = strength + near_weight * near
            words += term.weight * frequency * (1 + _SATURATION) / (frequency + norm)
            covered += term.weight * min(1.0, strength) if term.asked else 0.0
        share = covered / total
        scores.append(
            Score(candidate.row, words, words, share, own, candidate.body, candidate.moment)
        )
    return scores


def _by_form(terms: Sequence[Term]) -> dict[str, list[tuple[int, float]]]:
    """Each form of the terms: the terms that it stands for, by number, and how well."""
    found: dict[str, list[tuple[int, float]]] = {}
    for number, term in enumerate(terms):
        for form, strength in term.forms.items():
            if strength > 0:
                found.setdefault(form, []).append((number, strength))
    return found


def _stemmed(
    candidates: Sequence[Candidate], stemmer: Stemmer
) -> tuple[list[list[str]], list[set[str]]]:
    """Stems of the candidates' own words, and of their neighbours'."""
    own = [f"{c.body} {c.names}".split() for c in candidates]
    near = [set(c.near.split()) for c in candidates]
    # One look at all texts together: words never seen before are learnt in one go.
    known = stemmer.table(own, near)
    return [[known[w] for w in words] for words in own], [{known[w] for w in ws} for ws in near]
