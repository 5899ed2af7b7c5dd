"""The marked forms of ``languages/*.toml`` as compiled patterns, in all languages at once.

A sentence may mix languages, and the forms of one hardly mean anything in another, so every
pattern holds all of them. A language is added by adding a file and its name to `LANGUAGES`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files
from typing import Any, Literal

LANGUAGES = ("en", "de", "ru", "fr", "es", "zh")
WITHOUT_BORDERS = frozenset({"zh"})

CueName = Literal[
    # what a sentence does
    "remember",  # what follows is to be kept
    "remember_back",  # the statements before it are to be kept
    "standing",  # it holds from now on
    "obligation",  # it must be so
    "bound",  # a limit with a number
    "decision",  # somebody decided
    "contrast",  # this and not that
    "reason",  # why
    "practice",  # what "we" do
    "named",  # where something is or how it is called
    "habit",  # how it is always done
    "equals",  # between a thing and its value
    "permitted",  # it is allowed
    "replaced",  # in front of what no longer holds
    # what it does not do
    "moment",  # for this session or this moment only
    "permanent",  # in spite of a word such as "now"
    "hedge",  # not said as a fact
    "symptom",  # a report of trouble
    "passing",  # what is going on
    "status",  # opens a report on the work
    "question",  # opens a question or a polite request without a question mark
    "quoting",  # what follows are another's words or a machine's
    "chatter",  # manners
    "praise",  # how somebody likes it
    # orders, by the verb that a sentence opens with
    "task",  # for now
    "design",  # shapes the product
    "structural",  # shapes it, whatever else is said
    "negative_order",  # not to do something
    "adverb",  # makes any order a rule
    "universal",  # makes a negative order a rule
    "modal",  # makes a report of trouble a rule
    # the talk around it
    "correction",  # opens a message that sets something right
    "retract",  # takes back what the user said before
    "yes",  # agrees with what the assistant asked
    "either",  # offers a choice
    "lead",  # opens a sentence without saying anything
    "lead_marked",  # the same, where a mark follows
    # who and what
    "first_person",
    "subject",  # the speaker or the agent, as subject
    "agent",  # the agent, as subject
    "others",  # somebody else, as subject
    "we",  # the speaker's side, as subject
    "names",  # a clause that says what something is called
    "pointing",  # opens with a pronoun
    "pointed",  # "this file" and the like
    "dependent",  # opens by referring to the sentence before
    "pronoun",  # may refer to the sentence before
    "decision_label",
    "rule_label",
]


@lru_cache(maxsize=128)
def cue(name: CueName) -> re.Pattern[str]:
    """The pattern of a cue anywhere in a sentence."""
    return re.compile(source(name), re.IGNORECASE)


@lru_cache(maxsize=128)
def source(name: CueName) -> str:
    """The regular expression of a cue, to build others with."""
    tables = {language: _table(language) for language in LANGUAGES}
    parts = [_bounded(code, table[name]) for code, table in tables.items() if name in table]
    return "(?:" + "|".join(parts) + ")"


def has(name: CueName, text: str) -> bool:
    """Whether a sentence has the cue anywhere."""
    return bool(cue(name).search(text))


def opens(name: CueName, text: str) -> re.Match[str] | None:
    """The cue at the very beginning of a sentence, if it is there."""
    return cue(name).match(text)


@lru_cache(maxsize=16)
def wording(language: str) -> dict[str, str]:
    """How an order is told in a language: ``rule``, ``decision``, ``note``; ``common`` words."""
    return dict(_read(language)["text"])


@lru_cache(maxsize=16)
def _table(language: str) -> dict[str, list[str]]:
    data = _read(language)
    return {name: text.split("\n") for name, text in data.items() if isinstance(text, str)}


def _read(language: str) -> dict[str, Any]:
    import tomllib

    place = files(__package__).joinpath(f"languages/{language}.toml")
    return tomllib.loads(place.read_text("utf-8"))


def _bounded(language: str, fragments: list[str]) -> str:
    if language in WITHOUT_BORDERS:
        return f"(?:{'|'.join(fragments)})"
    worded = [f for f in fragments if not f.startswith(",")]
    marked = [f for f in fragments if f.startswith(",")]
    bounded = rf"(?<![\w-])(?:{'|'.join(worded)})(?![\w-])" if worded else r"(?!)"
    return "|".join([bounded, *marked])
