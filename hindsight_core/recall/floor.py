"""What counts as evidence when no judge looks: unrelated facts are not injected (br/BR-32).

A bank always has a nearest fact; that it is the nearest says nothing. Two things must hold: the
parts of its score reach the configured floors, and the query and the fact share words that name
something, or the bank found them close in another way (vectors, spelling) with a high score.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from hindsight_core.memory import Hit, Query
from hindsight_core.recall.keywords import terms

# The share of a query's words that a fact must hold, and how close a fact without any must be.
MIN_COVERAGE = 0.34
MIN_VECTOR = 0.84
_STEM = 5
# Words of requests: they say what to do, not what about.
_REQUEST = frozenset(
    "please write give make fix add help explain show continue check update change implement look "
    "see tell want need get set run find create remove delete try keep work working new old thanks "
    "thank hello again next done okay yes now more much many other same good way thing things "
    "while think know going start started stop use using used like still back "
    "schreibe schreib gib mache mach zeige erkläre danke hallo weiter neue neuen "
    "напиши сделай покажи объясни исправь добавь спасибо привет дальше новый".split()
)
_PARTS = re.compile(r"[^\W_]+")


def above_floors(hits: Sequence[Hit], min_scores: Mapping[str, float]) -> tuple[Hit, ...]:
    """Hits whose parts reach their floors; ``final`` is the score, a missing part passes."""
    return tuple(hit for hit in hits if all(_reaches(hit, *floor) for floor in min_scores.items()))


def evident(query: Query, hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Hits that share enough with the query to be shown unjudged, in their order."""
    wanted = _stems(query.text) or _stems(query.context or "")
    return tuple(
        hit
        for hit in hits
        if _coverage(wanted, hit.fact.text) >= MIN_COVERAGE
        or hit.parts.get("vectors", 0.0) >= MIN_VECTOR
    )


def _reaches(hit: Hit, part: str, floor: float) -> bool:
    value = hit.score if part == "final" else hit.parts.get(part)
    return value is None or value >= floor


def _coverage(wanted: frozenset[str], text: str) -> float:
    if not wanted:
        return 0.0
    return len(wanted & _stems(text)) / len(wanted)


def _stems(text: str) -> frozenset[str]:
    """Beginnings of the words that name something, parts of identifiers included."""
    words = {word for term in terms(text) for word in (term, *_PARTS.findall(term))}
    return frozenset(word[:_STEM] for word in words if word not in _REQUEST)
