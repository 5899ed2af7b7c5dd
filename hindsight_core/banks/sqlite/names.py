"""Proper names and identifiers in a question: what an answer must be about."""

from __future__ import annotations

import re

from hindsight_core.banks.sqlite.words import split

_EDGES = ".,?!:;\"'()[]{}<>`*\u00ab\u00bb\u201c\u201d\u2018\u2019\u3002\uff0c\uff1f"
# Capitals inside, letters with digits, an underscore, a file's ending: no word of plain prose.
_MARKED = re.compile(r".[A-Z]|[A-Za-z]\d|\d[A-Za-z]|\w_\w|\w\.[a-z]{1,5}$")
_FILE = re.compile(r"\w\.[a-z]{1,5}$")
_MEASURE = re.compile(r"\d+[a-z]{1,2}", re.IGNORECASE)
# In these languages every noun has a capital.
_CAPITAL_NOUNS = frozenset({"de"})


def proper_names(text: str, languages: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Names asked for, each as the index words under one of which it would stand.

    A name is an identifier (``CART_TTL``, ``pins.c``) or a word with a capital that does not
    begin a sentence.
    """
    capitals_count = not _CAPITAL_NOUNS & set(languages)
    found: dict[tuple[str, ...], None] = {}
    begins = True
    for token in text.split():
        core = token.strip(_EDGES)
        marked = bool(_MARKED.search(core)) and not _MEASURE.fullmatch(core)
        capital = core[:1].isupper() and capitals_count and not begins and core != "I"
        if core and core.isascii() and (marked or capital):
            parts = split(core)
            # `ostrapay.py` is also spoken of as `ostrapay`.
            stem = core.rsplit(".", 1)[0] if _FILE.search(core) else ""
            found[(*(parts.names or parts.body), *_last_word(stem))] = None
        begins = token[-1] in ".?!:"
    return [name for name in found if name]


def _last_word(path: str) -> tuple[str, ...]:
    parts = split(path.rsplit("/", 1)[-1])
    return parts.names or parts.body
