"""Text to index words: identifiers are split and joined, so that all their spellings meet."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

# Letters and digits with single joints between them: `retry_limit`, `bsp/pins.c`, `in-memory`.
_UNIT = re.compile(r"[^\W_]+(?:[._:/\\@+-]{1,2}[^\W_]+|_+[^\W_]+)*")
_SEGMENT = re.compile(r"[/\\:@]+")
_JOINT = re.compile(r"[\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z][a-z])|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
# Short forms after an apostrophe: `Anna's`, `don't`, `we'll`.
_ENDING = re.compile(r"(?<=[^\W\d_])['\u2019](?:s|t|ll|re|ve|d|m)\b", re.IGNORECASE)
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af]+")


@dataclass(frozen=True, slots=True)
class Words:
    """What a text is indexed under.

    Attributes:
        body: Its words in order, lower case; CJK runs as pairs of characters.
        names: Joined forms of its compound names: ``retrylimit`` for ``retry_limit``.
    """

    body: tuple[str, ...]
    names: tuple[str, ...]


def split(text: str) -> Words:
    """Words of a text; ``uplinkRetryLimit`` gives its three words and the joined name."""
    plain = _THOUSANDS.sub("", _ENDING.sub("", unicodedata.normalize("NFKC", text)))
    body: list[str] = []
    names: list[str] = []
    for unit in _UNIT.findall(plain):
        for segment in _SEGMENT.split(unit):
            parts = _parts(segment)
            body.extend(parts)
            if len(parts) > 1 and not _CJK.search(segment):
                names.append("".join(parts))
    return Words(tuple(body), tuple(names))


def _parts(segment: str) -> list[str]:
    found: list[str] = []
    for piece in _JOINT.split(segment):
        for word in _humps(piece):
            found.extend(_pairs(word.casefold()) if _CJK.search(word) else [word.casefold()])
    return found


def _humps(piece: str) -> list[str]:
    """Words of a camelCase name; a short beginning (``LoRaWAN``, ``iOS``) marks a single word."""
    humps = _CAMEL.sub(" ", piece).split()
    return humps if humps and len(humps[0]) > 2 else [piece]


def _pairs(word: str) -> list[str]:
    found: list[str] = []
    position = 0
    for run in _CJK.finditer(word):
        if run.start() > position:
            found.append(word[position : run.start()])
        chars = run.group()
        found.extend(
            [chars] if len(chars) == 1 else [chars[i : i + 2] for i in range(len(chars) - 1)]
        )
        position = run.end()
    if position < len(word):
        found.append(word[position:])
    return found
