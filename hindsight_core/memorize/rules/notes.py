"""The statements kept so far of one session, and how later ones take earlier ones back."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from hindsight_core.memorize.lexicon import content_stems
from hindsight_core.memorize.rules.speech import Act
from hindsight_core.memorize.similar import relation, replaced_words

MAX_NOTE = 600


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


@dataclass(slots=True)
class Notes:
    """Kept statements in order; `said` holds all the user's sentences, kept or not."""

    kept: list[Note] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def revises(self, text: str) -> bool:
        """Whether a sentence names something that the user said before, to replace it."""
        return any(_concerns(gone, old, text) for gone in replaced_words(text) for old in self.said)

    def take_back(self, text: str) -> None:
        """Drop what a sentence replaces or contradicts."""
        gone = replaced_words(text)
        self.kept = [
            note
            for note in self.kept
            if relation(text, note.text) != "changed"
            and not any(_concerns(words, note.text, text) for words in gone)
        ]

    def drop_message(self, number: int) -> None:
        """Drop what a message stated; the user took it back as a whole."""
        self.kept = [note for note in self.kept if note.message != number]

    def add(self, note: Note) -> None:
        """Keep a statement, unless it is there already."""
        if all(relation(note.text, other.text) != "same" for other in self.kept):
            self.kept.append(note)

    def extend_last(self, text: str) -> bool:
        """Append a sentence to the last statement; False when that would get too long."""
        if not self.kept or len(self.kept[-1].text) + len(text) + 2 > MAX_NOTE:
            return False
        last = self.kept[-1]
        last.text = f"{last.text.rstrip('.')}. {text}"
        last.quote = f"{last.quote} {text}"
        return True


def _concerns(gone: frozenset[str], old: str, new: str) -> bool:
    """Whether a replaced thing is what an old sentence was about, and not merely named in it."""
    stems = content_stems(old)
    if not gone or not gone <= stems:
        return False
    return len(gone) >= 2 or len(stems & content_stems(new) - gone) >= 1
