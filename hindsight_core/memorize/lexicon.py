"""Closed word classes and tokens for comparing short statements (data: ``lexicon.toml``)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

_TOKEN = re.compile(
    r"\d{1,4}[:.\-/]\d+(?:[:.\-/]\d+)*"  # times, dates, versions, addresses
    r"|\d+(?:[.,]\d+)?"
    r"|[^\W\d][\w'\u2019]*(?:[./:\\@-]+\w+)*"
    r"|[=:\u2192\u2014\uff1a\uff1d]|->",
)
_THOUSANDS = re.compile(r"(?<=\d)[ ,\u00a0\u202f](?=\d{3}(?!\d))")
_CJK = re.compile(r"([\u3400-\u9fff\u3040-\u30ff]+)")
_NUMBER_UNIT = re.compile(r"^(\d+(?:[.,]\d+)?)([a-zµ%]{1,3})$")
_LETTER = re.compile(r"\b([^\W\d_]*[a-zа-яё]) (?!I\b)([A-ZА-Я])(?![\w'\u2019+#-])")
_QUOTES = str.maketrans(dict.fromkeys('`"“”„«»', " "))


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The word classes of ``lexicon.toml``."""

    stop: frozenset[str]
    unit: frozenset[str]
    marker: frozenset[str]
    negation: frozenset[str]
    toggle: frozenset[str]
    link: frozenset[str]
    reason: frozenset[str]
    condition: frozenset[str]
    join: frozenset[str]
    instance: frozenset[str]
    number: Mapping[str, str]


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """The classes, read once."""
    import tomllib

    data = tomllib.loads(files(__package__).joinpath("lexicon.toml").read_text("utf-8"))
    numbers = {word: str(value) for word, value in data.pop("number").items()}
    return Lexicon(number=numbers, **{name: frozenset(text.split()) for name, text in data.items()})


def tokens(text: str) -> list[str]:
    """Lower-case tokens in order; CJK runs are cut at words of the closed classes."""
    plain = unicodedata.normalize("NFKC", text).lower().translate(_QUOTES).replace("\u2019", "'")
    plain = _THOUSANDS.sub("", plain)
    plain = _CJK.sub(lambda run: f" {_cut(run.group(1))} ", plain)
    found: list[str] = []
    for token in _TOKEN.findall(plain):
        numbered = _NUMBER_UNIT.match(token)
        found.extend(numbered.groups() if numbered else (token,))
    return found


def named(text: str) -> str:
    """The text with a letter or number that is a name joined to what it names: ``Plan-B``.

    A capital letter inside a sentence is one, anything else only behind a word of ``instance``:
    such a letter is no article and no unit, such a number is no value.
    """
    text = _LETTER.sub(r"\1-\2", text)
    return _short_names().sub(r"\1-\2", text)


@lru_cache(maxsize=1)
def _short_names() -> re.Pattern[str]:
    words = "|".join(sorted(map(re.escape, lexicon().instance)))
    return re.compile(rf"\b({words}) ([^\W\d_]|\d{{1,2}})(?![\w'\u2019.,:/-]*\w)", re.IGNORECASE)


def stem(token: str) -> str:
    """A token without its commonest English endings; identifiers stay as they are."""
    if not token.isalpha() or len(token) < 4:
        return token
    for ending in ("ings", "ing", "ied", "ies", "ed", "es", "s"):
        if token.endswith(ending) and len(token) - len(ending) >= 3:
            token = token[: -len(ending)]
            break
    return token[:-1] if token.endswith("e") and len(token) > 4 else token


@lru_cache(maxsize=512)
def _stems(text: str) -> frozenset[str]:
    words = lexicon()
    skip = words.stop | words.link | words.marker | words.negation
    return frozenset(
        stem(words.number.get(token, token))
        for token in tokens(text)
        if token not in skip and any(c.isalnum() for c in token)
    )


def content_stems(text: str) -> frozenset[str]:
    """Stems of the words that carry meaning, numbers included."""
    return _stems(text)


@lru_cache(maxsize=1)
def _cjk_words() -> re.Pattern[str]:
    words = lexicon()
    every = words.stop | words.link | words.marker | words.negation | words.reason | words.unit
    every |= words.condition
    every |= frozenset(words.number) | words.toggle
    known = sorted((w for w in every if _CJK.fullmatch(w)), key=len, reverse=True)
    return re.compile("(" + "|".join(map(re.escape, known)) + ")")


def _cut(run: str) -> str:
    return _cjk_words().sub(r" \1 ", run)
