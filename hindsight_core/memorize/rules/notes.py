"""The statements kept so far of one session, and how later ones take earlier ones back."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import takewhile

from hindsight_core.memorize.lexicon import content_stems
from hindsight_core.memorize.rules.speech import Act
from hindsight_core.memorize.shortlist import Shortlist
from hindsight_core.memorize.similar import relation, replaced_words

MAX_NOTE = 600
MOST_SAID = 20_000


@dataclass(slots=True)
class Note:
    """A statement worth keeping.

    Attributes:
        text: Clean, one line.
        act: Why it is kept.
        kind: Its fact kind.
        message: Number of the user message, counted in the window.
        entry_id: The entry it was said in.
        said_at: When, if the host says.
        quote: The sentence as written.
        order: It is phrased as an order.
    """

    text: str
    act: Act
    kind: str
    message: int
    entry_id: str
    said_at: datetime | None
    quote: str
    order: bool = False


class Notes:
    """Kept statements in order, and the sentences that the user said last, kept or not."""

    def __init__(self) -> None:
        self._kept: dict[int, Note] = {}
        self._number = 0
        self._kept_words = Shortlist()
        self._said: deque[str] = deque(maxlen=MOST_SAID)
        self._said_words = Shortlist()
        self._said_so_far = self._indexed = 0

    @property
    def kept(self) -> list[Note]:
        """The kept statements in order."""
        return list(self._kept.values())

    def say(self, sentences: Iterable[str]) -> None:
        """Take sentences in that may be revised later."""
        for sentence in sentences:
            self._said.append(sentence)
            self._said_so_far += 1

    def revises(self, text: str) -> bool:
        """Whether a sentence names something that the user said before, to replace it."""
        gone = replaced_words(text)
        if not gone:
            return False
        self._index_said()
        first = self._said_so_far - len(self._said)
        return any(
            _concerns(words, self._said[number - first], text)
            for words in gone
            for number in self._said_words.naming(words)
        )

    def take_back(self, text: str) -> None:
        """Drop what a sentence replaces or contradicts."""
        for number in self._kept_words.related(text):
            if relation(text, self._kept[number].text) == "changed":
                self._drop(number)
        for words in replaced_words(text):
            for number in self._kept_words.naming(words):
                if _concerns(words, self._kept[number].text, text):
                    self._drop(number)

    def drop_message(self, number: int) -> None:
        """Drop what a message stated; the user took it back as a whole."""
        # Messages come in order, so that the last notes are the last messages'.
        for key in list(takewhile(lambda k: self._kept[k].message >= number, reversed(self._kept))):
            if self._kept[key].message == number:
                self._drop(key)

    def add(self, note: Note) -> None:
        """Keep a statement, unless it is there already, in place of what it says more fully."""
        near = {
            number: relation(note.text, self._kept[number].text)
            for number in self._kept_words.related(note.text)
        }
        if "same" in near.values():
            return
        for number in [number for number, how in near.items() if how == "extended"]:
            self._drop(number)
        self._number += 1
        self._kept[self._number] = note
        self._kept_words.add(self._number, note.text)

    def extend_last(self, text: str) -> bool:
        """Append a sentence to the last statement; False when that would get too long."""
        number = next(reversed(self._kept), None)
        if number is None or len(self._kept[number].text) + len(text) + 2 > MAX_NOTE:
            return False
        last = self._kept[number]
        last.text = f"{last.text.rstrip('.')}. {text}"
        last.quote = f"{last.quote} {text}"
        self._kept_words.add(number, last.text)
        return True

    def _drop(self, number: int) -> None:
        del self._kept[number]
        self._kept_words.remove(number)

    def _index_said(self) -> None:
        """Only once a sentence revises something: most sessions never need it."""
        first = self._said_so_far - len(self._said)
        for number in range(max(self._indexed, first), self._said_so_far):
            self._said_words.add(number, self._said[number - first])
            self._said_words.remove(number - MOST_SAID)
        self._indexed = self._said_so_far


def _concerns(gone: frozenset[str], old: str, new: str) -> bool:
    """Whether a replaced thing is what an old sentence was about, and not merely named in it."""
    stems = content_stems(old)
    if not gone or not gone <= stems:
        return False
    return len(gone) >= 2 or len(stems & content_stems(new) - gone) >= 1
