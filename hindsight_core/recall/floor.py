"""What counts as evidence when no judge looks: unrelated facts are not injected (br/BR-32).

A bank always has a nearest fact; that it is the nearest says nothing. A fact is shown unjudged
when it holds much of what the query names, or something of it and at least two of its words, and
when it is not far behind the best one. Where a bank tells how much of the query's weight a fact
holds (``coverage``), that counts; else words are compared here. Where its scores are
probabilities, the best one says whether the bank has found anything, and what is near it follows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hindsight_core.memory import Hit, Query
from hindsight_core.recall.keywords import terms

CALIBRATED = "names_missing"
EVEN_ODDS = 0.5
MAJORITY = 0.5
# Chosen on the coding evaluation set. With a calibrated bank: three of four answers (four of five
# with vectors), three of five facts right, five of six hopeless queries silent; without: half of
# the answers at that silence.
MUCH = 0.45
MOST = 0.7  # without a word in common: the bank has seen through a spelling
SOMETHING = 0.2
SHARED_WORDS = 2
NEAR_BEST = 0.7
# The same for a calibrated bank, by its score: with vectors a fact may share no word.
NEAR_BEST_SCORE = 0.75
# Cosines of common embedding models: anything under it may be chance.
MIN_VECTOR = 0.84
_STEM = 5
# Words of requests and of talk: they say what to do or how often, not what about.
_COMMON = frozenset(
    "please write give make fix add help explain show continue check update change implement look "
    "see tell want need get set run find create remove delete try keep work working new old thanks "
    "thank hello again next done okay yes now more much many other same good way thing things "
    "while think know going start started stop use using used like still back without often "
    "always never usually currently actually really maybe instead another because since until "
    "something anything everything nothing first last long right wrong sure great nice happen "
    "happens happened come comes goes take takes put say says said ask every each both "
    "schreibe schreib gib mache mach zeige erkläre danke hallo weiter neue neuen immer oft "
    "напиши сделай покажи объясни исправь добавь спасибо привет дальше новый часто всегда".split()
)
_PARTS = re.compile(r"[^\W_]+")


def reaches(hit: Hit, part: str, floor: float) -> bool:
    """Whether a part of the score reaches a floor; a hit without that part passes.

    ``final`` is the score itself where a bank names no part so.
    """
    value = hit.parts.get(part, hit.score if part == "final" else None)
    return value is None or value >= floor


def evident(query: Query, hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Hits that share enough with the query to be shown unjudged, in their order."""
    named = _stems(query.text)
    known = named | _stems(query.context or "")
    sure = _best_scores(hits)
    enough = [
        hit
        for hit in hits
        if (
            _likely(hit, best=sure[hit.bank], named=named, known=known)
            if CALIBRATED in hit.parts
            else _holds_enough(hit, named=named, known=known)
        )
    ]
    plain = [_strength(hit) for hit in enough if CALIBRATED not in hit.parts]
    least = NEAR_BEST * max(plain, default=0.0)
    return tuple(hit for hit in enough if CALIBRATED in hit.parts or _strength(hit) >= least)


def _best_scores(hits: Sequence[Hit]) -> dict[str, float]:
    """The best score of each bank: how sure a calibrated one is to have found something."""
    best: dict[str, float] = {}
    for hit in hits:
        valid = 0.0 if hit.parts.get("superseded") else hit.score
        best[hit.bank] = max(best.get(hit.bank, 0.0), valid)
    return best


def _likely(hit: Hit, *, best: float, named: frozenset[str], known: frozenset[str]) -> bool:
    if hit.parts.get("superseded") or hit.score < NEAR_BEST_SCORE * best:
        return False
    if best >= EVEN_ODDS:
        return True
    # Rarity says little in a small bank, and so does a score that rests on it.
    own = _stems(hit.fact.text)
    if not named:
        return len(known & own) >= SHARED_WORDS
    return len(named & own) > MAJORITY * len(named)


def _holds_enough(hit: Hit, *, named: frozenset[str], known: frozenset[str]) -> bool:
    own = _stems(hit.fact.text)
    shared = len(known & own)
    # A bank weighs words by rarity, which says little while it is small; a majority of the words
    # themselves is enough there.
    words = len(named & own) / (len(named) or 1)
    weight = hit.parts.get("coverage", words)
    if words > 0.5 or weight >= (MUCH if shared else MOST):
        return True
    if shared >= SHARED_WORDS and (max(words, weight) >= SOMETHING or not named):
        return True
    return hit.parts.get("vectors", 0.0) >= MIN_VECTOR


def _strength(hit: Hit) -> float:
    return hit.parts.get("words", hit.score)


def _stem(word: str) -> str:
    return word[:_STEM].replace("y", "i")


def _stems(text: str) -> frozenset[str]:
    """Beginnings of the words that name something, parts of identifiers included."""
    words = {word for term in terms(text) for word in (term, *_PARTS.findall(term))}
    return frozenset(_stem(word) for word in words if word not in _COMMON)
