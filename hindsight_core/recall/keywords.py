"""Search terms of a prompt without a model (pi/R-08)."""

from __future__ import annotations

import math
import re
import unicodedata

MAX_TERMS = 40
MIN_LENGTH = 3
MIN_GROUP = 3
_JOINERS = "_./-"
# Scripts that put no space between words: their runs are cut into searchable pieces, and two
# characters are a word already.
_ASCII_WORD = re.compile(r"[0-9A-Za-z_./-]+")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+"
)
_UNSPACED_PIECE = 8

STOP_WORDS = frozenset(
    # English
    "the and for are was were has have had how why who what when where which that this these those "
    "with from into onto over about after before does did doing done not but you your our ours its "
    "his her him she they them their there here then than can could should would will shall may "
    "might must been being just also only very some any all out off too via per let lets use "
    # German
    "der die das den dem des ein eine einer einen einem und oder aber nicht ist sind war waren hat "
    "haben wie was wer wann warum welche welcher welches mit von vom zum zur bei auf aus für nach "
    "über unter auch noch nur doch mal bitte kann können soll sollen wird werden wir ihr sie ich "
    "dass diese dieser dieses dann wenn "
    # Russian
    "что как где кто это эта этот эти для или при под над без про нас вас они она оно его её тот "
    "все уже ещё еще есть был была были быть нет так там тут когда почему зачем какой какая какие "
    "чтобы если надо нужно можно пожалуйста".split()
)


def has_substance(text: str) -> bool:
    """Whether there is a letter or digit at all; without one no model is asked."""
    return any(char.isalnum() for char in text)


def terms(text: str) -> list[str]:
    """Distinct search terms in their order, at most 40: no stop-words, nothing under 3 letters."""
    found: dict[str, None] = {}
    for word in _words(unicodedata.normalize("NFC", text).lower()):
        if word not in STOP_WORDS:
            found[word] = None
        if len(found) == MAX_TERMS:
            break
    return list(found)


def keyword_queries(text: str, *, limit: int) -> list[str]:
    """At most ``limit`` queries of at least three terms each, in the order of the text."""
    words = terms(text)
    size = max(MIN_GROUP, math.ceil(len(words) / max(1, limit)))
    return [" ".join(words[start : start + size]) for start in range(0, len(words), size)]


def _words(text: str) -> list[str]:
    if text.isascii():
        parts = (raw.strip("./-") for raw in _ASCII_WORD.findall(text))
        return [word for word in parts if len(word) >= MIN_LENGTH]
    kept = "".join(char if _is_word(char) else " " for char in text)
    found = []
    for raw in kept.split():
        spaced = _UNSPACED.sub(lambda run: f" {_pieces(run.group())} ", raw)
        for part in spaced.split():
            word = part.strip("./-")
            if len(word) >= (2 if _UNSPACED.match(word) else MIN_LENGTH):
                found.append(word)
    return found


def _pieces(run: str) -> str:
    return " ".join(
        run[start : start + _UNSPACED_PIECE] for start in range(0, len(run), _UNSPACED_PIECE)
    )


def _is_word(char: str) -> bool:
    # Combining marks belong to the letter before them (Devanagari, Thai).
    return char.isalnum() or char in _JOINERS or unicodedata.category(char).startswith("M")
