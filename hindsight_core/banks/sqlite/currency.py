"""Of two facts about one thing the later one comes first: was and now.

Evidence, never age alone: the later fact repeats most of what the earlier one is about, and says
something else about it. A fact without such a later one keeps its score however old it is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from hindsight_core.banks.sqlite.ranking import Score
from hindsight_core.banks.sqlite.stopwords import stop_words

DEPTH = 20
THRESHOLD = 0.5
CHANGE = 0.15
VALUE = 0.2
SAME = 0.1
STALE = 0.6
# Sentences of one talk do not replace each other (microseconds).
APART = 3_600_000_000
# What differs between two versions of a fact: numbers, days, months (stems).
_VALUE = re.compile(
    r"\d|^(?:(?:mon|tues|wednes|thurs|fri|satur|sun)dai|januari|februari|march|april|june|juli"
    r"|august|septemb|octob|novemb|decemb)$"
)
_LEFT_BEHIND = frozenset(("from", "of", "not", "than", "at", "von", "statt", "de", "с", "вместо"))
# Words of a sentence that tells a change (stems).
CHANGE_WORDS = frozenset(
    "now sinc instead longer anymor chang move switch replac rais lower increas decreas reduc"
    " extend shorten widen drop remov renam previous former formerli previou migrat upgrad"
    " deprec revers reduct".split()
)


@dataclass(frozen=True, slots=True)
class _About:
    """A scored fact, taken apart for comparison: words, values, what it tells to be over."""

    score: Score
    words: frozenset[str]
    values: frozenset[str]
    left_behind: frozenset[str]
    weight: float
    changes: bool


def settle(scores: Sequence[Score]) -> list[Score]:
    """Scores, best first, with later facts lifted over the earlier ones that they replace."""
    top = scores[:DEPTH]
    weights = _weights(top)
    facts = [_about(score, weights) for score in top]
    ranks = {score.row: score.rank for score in top}
    stale: dict[int, int] = {}
    for old in facts:
        best = THRESHOLD
        for new in facts:
            if new.score.moment - old.score.moment < APART:
                continue
            evidence = replaces(new, old, weights)
            if evidence > best:
                best, stale[old.score.row] = evidence, new.score.row
    for old_row, new_row in stale.items():
        ranks[new_row] = max(ranks[new_row], ranks[old_row])
    settled = [
        replace(
            score,
            rank=ranks[score.row] * (STALE if score.row in stale else 1.0),
            replaced_by=stale.get(score.row),
        )
        for score in top
        if stale
    ]
    return sorted([*(settled or top), *scores[DEPTH:]], key=lambda s: (-s.rank, s.row))


def replaces(new: _About, old: _About, weights: Mapping[str, float]) -> float:
    """How sure it is that a later fact says anew what the earlier one said, 0..1 and a little."""
    shared = new.words & old.words
    told_again = old.words <= new.words and old.values <= new.values
    if not shared or told_again or (len(shared) == 1 and shared != old.words):
        return 0.0
    common = sum(weights[w] for w in shared) + sum(weights[w] for w in new.values & old.values)
    evidence = common / old.weight
    if new.changes:
        evidence += CHANGE
    if old.values & new.left_behind:
        return evidence + VALUE
    # It still says the same number: told again, not changed.
    return evidence - SAME if old.values and old.values <= new.values else evidence


def _about(score: Score, weights: Mapping[str, float]) -> _About:
    subject = score.stems - stop_words()["en"]
    values = frozenset(word for word in subject if _VALUE.search(word))
    body = score.body.split()
    return _About(
        score=score,
        words=subject - values,
        values=values,
        # `from 10 to 15`, `15 instead of 10`
        left_behind=frozenset(w for before, w in pairwise(body) if before in _LEFT_BEHIND),
        weight=sum(weights[word] for word in subject) or 1.0,
        changes=not CHANGE_WORDS.isdisjoint(subject),
    )


def _weights(top: Sequence[Score]) -> dict[str, float]:
    counts: dict[str, int] = {}
    for score in top:
        for stem in score.stems:
            counts[stem] = counts.get(stem, 0) + 1
    return {stem: math.log(1 + len(top) / n) for stem, n in counts.items()}
