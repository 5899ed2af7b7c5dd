"""What a pronoun stands for: the thing named last, so that a statement can stand alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hindsight_core.memorize.rules.cues import has, opens

_SPAN = re.compile(r"`([^`\s]{2,60})`")
_NAME = re.compile(
    r"(?<![\w/.@-])(?:/?(?:[\w.-]+/)+[\w.-]*\w|[A-Za-z]\w*(?:\.\w{2,})+(?:\(\))?"
    r"|[A-Za-z]\w*_\w+|\w+(?:::\w+)+|[a-z]+[A-Z]\w+)"
)


def needs_previous(words: str) -> bool:
    """Whether a sentence is about the one before it."""
    later = any(opens("dependent", words[m.start() :]) for m in re.finditer(",", words))
    return bool(opens("dependent", words)) or later


def leans_on_previous(words: str) -> bool:
    """Whether a sentence has any word that may point to the one before it."""
    return has("pronoun", words)


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
    if not (opens("pointing", words) or has("pointed", words)):
        return text
    name = last_name(before)
    if name is None or name in text:
        return text
    return f"{name}: {text}"
