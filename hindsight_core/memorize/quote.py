"""Whether a quote is evidence: really said in a window, by somebody who stated it, of this fact.

All of it is decided in code, in any script (pi/I-05, pi/D-17): a model may not retire a fact with
words that nobody said, that ask or order, that come out of a tool or a quotation, that were
memorized before, or that are about something else.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from hindsight_core.memorize.lexicon import content_stems, lexicon, stem, tokens
from hindsight_core.memorize.rules.cues import has
from hindsight_core.memorize.rules.speech import is_order, is_question, strip_lead
from hindsight_core.memorize.rules.words import sentences, unquoted
from hindsight_core.transcript.entry import Text

if TYPE_CHECKING:
    from hindsight_core.transcript.entry import Entry, Window

MIN_LENGTH = 20
MIN_WORDS = 4
# Written without spaces: Han, kana, Thai, Lao, Burmese, Khmer.
_DENSE = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
)
_SPEAKER = re.compile(r"^(?:user|assistant):\s*")
_PARTS = re.compile(r"[^\W\d_]+|\d+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_NAME = re.compile(
    r"(?<=\w )[A-Z]\w+|\b[A-Z]{2,}\w*|\w*\d{2,}\w*|\w+(?:[./:\\@_-]\w+)+|\w+[a-z][A-Z]\w*"
)
_SHORT = 3


class Evidence:
    """What the speakers of a window stated in it.

    Args:
        window: Sanitised; what was saved before counts for nothing.
    """

    def __init__(self, window: Window) -> None:
        fresh = (entry for entry in window.entries if entry.id not in window.saved)
        self._said = [plain(piece) for entry in fresh for piece in _stated(entry)]

    def supports(self, quote: str, fact: str) -> bool:
        """Whether these words were stated, say enough by themselves, and are about the fact."""
        words = _SPEAKER.sub("", plain(quote))
        return (
            says_enough(words)
            and any(words in piece for piece in self._said)
            and linked(quote, fact)
        )


def plain(text: str) -> str:
    """A text as quotes are compared: one line, lower case, one form of each character."""
    return " ".join(unicodedata.normalize("NFKC", text).lower().split())


def says_enough(quote: str) -> bool:
    """At least 20 characters and 4 words; two letters of a dense script count as a word."""
    dense = sum(unicodedata.category(letter)[0] == "L" for letter in _DENSE.findall(quote))
    spaced = _DENSE.sub(" ", quote).split()
    words = sum(any(letter.isalnum() for letter in word) for word in spaced) + dense // 2
    return len(quote) + dense >= MIN_LENGTH and words >= MIN_WORDS


def linked(quote: str, fact: str) -> bool:
    """Whether a quote names what a fact is about: a name of it, or two of its words."""
    said, meant = _words(quote), _words(fact)
    names = {name for found in _NAME.findall(fact) for name in _name(found)}
    shared = said & meant
    return bool(shared & names) or len(shared) >= min(2, len(meant) or 1)


def _stated(entry: Entry) -> Iterator[str]:
    """Runs of sentences of an entry that state something, without what they quote."""
    if entry.role not in ("user", "assistant") or entry.synthetic or entry.compaction:
        return
    for part in entry.parts:
        if not isinstance(part, Text):
            continue
        run: list[str] = []
        for sentence in sentences(part.text):
            words = sentence.masked[strip_lead(sentence.masked) :]
            if is_question(words) or _orders(words) or has("hedge", sentence.masked):
                yield from _flushed(run)
                run = []
            else:
                run.append(sentence.text)
        yield from _flushed(run)


def _orders(words: str) -> bool:
    """Whether a sentence tells somebody to do it; "release notes are gone" only looks like that."""
    return is_order(words) and not set(tokens(words)[1:4]) & lexicon().link


def _flushed(run: Iterable[str]) -> Iterator[str]:
    yield from (piece for piece in unquoted(" ".join(run)) if piece.strip())


def _words(text: str) -> frozenset[str]:
    """Stems, parts of identifiers, and pairs of letters of dense scripts."""
    found = {word for word in content_stems(_DENSE.sub(" ", text)) if len(word) >= _SHORT}
    for token in text.split():
        found |= _name(token)
    for run in re.findall(f"{_DENSE.pattern}+", text):
        found |= {run[n : n + 2] for n in range(len(run) - 1)}
    return frozenset(found)


def _name(token: str) -> set[str]:
    parts = _PARTS.findall(_HUMP.sub(" ", _DENSE.sub(" ", token)))
    stems = {stem(part.lower()) for part in parts if len(part) >= _SHORT}
    return stems & content_stems(" ".join(part.lower() for part in parts))
