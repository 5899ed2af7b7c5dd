"""Of two facts about one thing the later one comes first: was and now.

Evidence, never age alone: the later fact repeats most of what the earlier one is about, and says
something else about it. A fact without such a later one keeps its score however old it is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from hindsight_core.banks.sqlite.ranking import Score
from hindsight_core.banks.sqlite.stopwords import stop_words

DEPTH = 30
THRESHOLD = 0.5
CHANGE = 0.15
VALUE = 0.2
SAME = 0.1
STALE = 0.6
# Sentences of one talk do not replace each other (microseconds).
APART = 3_600_000_000
_LEFT_BEHIND = frozenset(("from", "of", "not", "than", "at", "von", "statt", "de", "с", "вместо"))
# Words of a sentence that tells a change (stems).
CHANGE_WORDS = frozenset(
    "now sinc instead longer anymor chang move switch replac rais lower increas decreas reduc"
    " extend shorten widen drop remov renam previous former formerli previou migrat upgrad"
    " deprec revers reduct".split()
)


@dataclass(frozen=True, slots=True)
class _About:
    """A scored fact and the stems of what it is about."""

    score: Score
    subject: frozenset[str]


def settle(scores: Sequence[Score]) -> list[Score]:
    """Scores, best first, with later facts lifted over the earlier ones that they replace."""
    top = [_About(s, _subject(s.stems)) for s in scores[:DEPTH]]
    weights = _weights(top)
    words = {d.score.row: d.score.words for d in top}
    stale: dict[int, int] = {}
    for old in top:
        best = 0.0
        for new in top:
            if new.score.moment - old.score.moment < APART:
                continue
            evidence = replaces(new, old, weights)
            if evidence > max(best, THRESHOLD):
                best, stale[old.score.row] = evidence, new.score.row
    for old_row, new_row in stale.items():
        words[new_row] = max(words[new_row], words[old_row])
    settled = [
        replace(
            s,
            words=words.get(s.row, s.words) * (STALE if s.row in stale else 1.0),
            replaced_by=stale.get(s.row),
        )
        for s in scores
    ]
    return sorted(settled, key=lambda s: (-s.words, s.row))


def replaces(new: _About, old: _About, weights: Mapping[str, float]) -> float:
    """How sure it is that a later fact says anew what the earlier one said, 0..1 and a little."""
    shared = new.subject & old.subject
    if len({w for w in shared if not _is_value(w)}) < 2 or old.subject <= new.subject:
        return 0.0
    about = sum(weights[w] for w in old.subject)
    evidence = sum(weights[w] for w in shared) / about if about else 0.0
    if new.subject & CHANGE_WORDS:
        evidence += CHANGE
    values = {w for w in old.subject if _is_value(w)}
    if values & _left_behind(new.score.body):
        return evidence + VALUE
    # It still says the same number: told again, not changed.
    return evidence - SAME if values and values <= new.subject else evidence


def _left_behind(body: str) -> set[str]:
    """Values that a sentence tells to be over: ``from 10 to 15``, ``15 instead of 10``."""
    words = body.split()
    return {word for before, word in pairwise(words) if before in _LEFT_BEHIND and _is_value(word)}


def _weights(top: Sequence[_About]) -> dict[str, float]:
    counts: dict[str, int] = {}
    for dated in top:
        for stem in dated.score.stems:
            counts[stem] = counts.get(stem, 0) + 1
    return {stem: math.log(1 + len(top) / n) for stem, n in counts.items()}


def _subject(stems: frozenset[str]) -> frozenset[str]:
    return stems - stop_words()["en"]


def _is_value(stem: str) -> bool:
    return any(c.isdigit() for c in stem)
