"""Words without a subject, in several languages, taken out of queries."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from hindsight_core.banks.sqlite.words import split

_DATA = Path(__file__).parent / "data"
_MAIN = "en"


@cache
def stop_words() -> dict[str, frozenset[str]]:
    """Lower-case function words by language."""
    found: dict[str, frozenset[str]] = {}
    for line in _lines("stopwords.txt"):
        language, _, words = line.partition(":")
        found[language] = frozenset(word.casefold() for word in words.split())
    return found


@cache
def _stop_characters() -> re.Pattern[str]:
    words = [word for line in _lines("stopchars.txt") for word in line.split()]
    return re.compile("|".join(map(re.escape, sorted(words, key=len, reverse=True))))


def languages(words: Sequence[str]) -> list[str]:
    """Languages that a query seems to be in, by its function words.

    English unless another language explains more of them: ``son`` is a stop-word in French and
    a subject in English.
    """
    lists = stop_words()
    hits = {name: sum(word in found for word in words) for name, found in lists.items()}
    best = max(hits.values())
    return [_MAIN] if hits[_MAIN] >= best else [n for n, count in hits.items() if count == best]


@dataclass(frozen=True, slots=True)
class Asked:
    """A query without its function words.

    Attributes:
        words: In order and once; if only function words were asked, they are here.
        names: Joined names that words beside each other may form: ``cart ttl``, ``CART_TTL``.
        languages: Languages that the query seems to be in.
    """

    words: tuple[str, ...]
    names: tuple[str, ...]
    languages: tuple[str, ...]


def without_stop_words(text: str) -> Asked:
    """Take a query apart and drop what carries no subject."""
    cut = _stop_characters().sub(" ", text)
    parts = split(cut if cut.strip() else text)
    spoken = languages(parts.body)
    lists = [stop_words()[name] for name in spoken]
    kept = [word for word in parts.body if not any(word in found for found in lists)]
    pairs = [a + b for a, b in pairwise(kept)]
    triples = [a + b + c for a, b, c in zip(kept, kept[1:], kept[2:], strict=False)]
    return Asked(
        words=tuple(dict.fromkeys(kept or parts.body)),
        names=tuple(dict.fromkeys([*parts.names, *pairs, *triples])),
        languages=tuple(spoken),
    )


def _lines(name: str) -> list[str]:
    text = (_DATA / name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
