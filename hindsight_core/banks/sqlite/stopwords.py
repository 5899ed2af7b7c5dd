"""Words without a subject, in several languages, taken out of queries."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from pathlib import Path

from hindsight_core.banks.sqlite.words import split

_DATA = Path(__file__).parent / "data"


def read_words(name: str) -> list[str]:
    """Words of a data file, comments left out."""
    text = (_DATA / name).read_text(encoding="utf-8")
    return [w for line in text.splitlines() if not line.startswith("#") for w in line.split()]


@cache
def stop_words() -> frozenset[str]:
    """Lower-case function words."""
    return frozenset(word.casefold() for word in read_words("stopwords.txt"))


@cache
def _stop_characters() -> re.Pattern[str]:
    found = sorted(read_words("stopchars.txt"), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, found)))


def without_stop_words(text: str) -> tuple[list[str], list[str]]:
    """Words worth searching, in order and once, and joined names that they may form.

    Two words beside each other may be one name elsewhere: ``cart ttl`` for ``CART_TTL``. If only
    function words were asked, they are searched.
    """
    cut = _stop_characters().sub(" ", text)
    parts = split(cut if cut.strip() else text)
    kept = [word for word in parts.body if word not in stop_words()]
    words = list(dict.fromkeys(kept or parts.body))
    pairs = [a + b for a, b in pairwise(kept)]
    triples = [a + b + c for a, b, c in zip(kept, kept[1:], kept[2:], strict=False)]
    return words, list(dict.fromkeys([*parts.names, *pairs, *triples]))
