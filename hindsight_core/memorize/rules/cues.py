"""The marked forms of ``languages/*.toml`` as compiled patterns, in all languages at once.

A sentence may mix languages, and the forms of one hardly mean anything in another, so every
pattern holds all of them. A language is added by adding a file and its name to `LANGUAGES`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files
from typing import Literal

LANGUAGES = ("en", "de", "ru", "fr", "es", "zh")
WITHOUT_BORDERS = frozenset({"zh"})

CueName = Literal[
    "remember",  # what follows is to be kept
    "remember_back",  # the statements before it are to be kept
    "standing",  # it holds from now on
    "obligation",  # it must be so
    "bound",  # a limit with a number
    "decision",  # somebody decided
    "contrast",  # this and not that
    "reason",  # why
    "practice",  # what "we" do
    "moment",  # for this session or this moment only
    "hedge",  # not said as a fact
    "symptom",  # a report of trouble
    "question",  # opens a question or a polite request without a question mark
    "task",  # an order for now: the verb a sentence opens with
    "design",  # an order that shapes the product: the verb a sentence opens with
    "negative_order",  # an order not to do something
    "correction",  # opens a message that sets something right
    "retract",  # takes back what the user said before
    "yes",  # agrees with what the assistant asked
    "quoting",  # what follows are another's words or a machine's
    "chatter",  # manners
]


@lru_cache(maxsize=64)
def cue(name: CueName) -> re.Pattern[str]:
    """The pattern of a cue anywhere in a sentence."""
    tables = {language: _table(language) for language in LANGUAGES}
    parts = [_bounded(code, table[name]) for code, table in tables.items() if name in table]
    return re.compile("|".join(parts), re.IGNORECASE)


def has(name: CueName, text: str) -> bool:
    """Whether a sentence has the cue anywhere."""
    return bool(cue(name).search(text))


def opens(name: CueName, text: str) -> re.Match[str] | None:
    """The cue at the very beginning of a sentence, if it is there."""
    return cue(name).match(text)


@lru_cache(maxsize=16)
def _table(language: str) -> dict[str, list[str]]:
    import tomllib

    source = files(__package__).joinpath(f"languages/{language}.toml")
    data = tomllib.loads(source.read_text("utf-8"))
    return {name: text.split("\n") for name, text in data.items()}


def _bounded(language: str, fragments: list[str]) -> str:
    if language in WITHOUT_BORDERS:
        return f"(?:{'|'.join(fragments)})"
    worded = [f for f in fragments if not f.startswith(",")]
    marked = [f for f in fragments if f.startswith(",")]
    bounded = rf"(?<![\w-])(?:{'|'.join(worded)})(?!\w)" if worded else r"(?!)"
    return "|".join([bounded, *marked])
