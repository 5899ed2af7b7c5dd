"""What a pronoun stands for: the thing named last, so that a statement can stand alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

_POINTS = re.compile(
    r"^(?:[\w-]+ ){0,2}(?:it|them|this|these|those|es|dies\w*|его|её|их|это|ça|cela|eso|esto)\b"
    r"|\b(?:this|that|these|those|dies\w+|этот|эта|cette|ce|este|esta) (?:file|table|service|module|job|script|page|"
    r"function|class|endpoint|command|flag|test|export|datei|tabelle|dienst|файл|таблиц\w+|fichier|archivo)\b"
    r"|^它|^这个",
    re.IGNORECASE,
)
_STANDS_ON_OTHERS = re.compile(
    r"^(?:it|this|that|they|these|those|the (?:result|same)|same|es|das|dies\w*|das ergebnis|это|он[аои]?|ça|cela|eso|esto)\b|^它|^这"
    r"|[,;] (?:that|this|das|это|ça|eso) (?:must|should|is|was|has|will|darf|muss|ist)\b",
    re.IGNORECASE,
)
_LEANS = re.compile(
    r"\b(?:it|its|this|that|them|they|same|es|sie|das|dies\w*|это|его|их|ça|cela|eso|lo)\b|它|这",
    re.IGNORECASE,
)
_SPAN = re.compile(r"`([^`\s]{2,60})`")
_NAME = re.compile(
    r"(?<![\w/.@-])(?:/?(?:[\w.-]+/)+[\w.-]*\w|[A-Za-z]\w*(?:\.\w{2,})+(?:\(\))?|[A-Za-z]\w*_\w+|\w+(?:::\w+)+|[a-z]+[A-Z]\w+)"
)


def points_back(words: str) -> bool:
    """Whether a statement opens with a pronoun, or says "this file" and the like."""
    return bool(_POINTS.search(words))


def needs_previous(words: str) -> bool:
    """Whether a sentence is about the one before it."""
    return bool(_STANDS_ON_OTHERS.search(words))


def leans_on_previous(words: str) -> bool:
    """Whether a sentence has any word that may point to the one before it."""
    return bool(_LEANS.search(words))


def last_name(texts: Sequence[str]) -> str | None:
    """The identifier named last, looking through texts from the last to the first."""
    for text in reversed(texts):
        found = [(m.start(), m.group(1)) for m in _SPAN.finditer(text)]
        found += [(m.start(), m.group()) for m in _NAME.finditer(text) if "://" not in m.group()]
        if found:
            return max(found)[1]
    return None


def with_topic(text: str, words: str, before: Sequence[str]) -> str:
    """A statement with the thing that its pronoun stands for in front, where that is known."""
    if not points_back(words):
        return text
    name = last_name(before)
    if name is None or name in text:
        return text
    return f"{name}: {text}"
