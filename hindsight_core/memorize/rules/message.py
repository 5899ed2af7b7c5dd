"""One message of the user: its sentences weighed in order."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hindsight_core.memorize.lexicon import content_stems
from hindsight_core.memorize.rules import topic
from hindsight_core.memorize.rules.credentials import gives_away
from hindsight_core.memorize.rules.cues import has, opens
from hindsight_core.memorize.rules.notes import Note, Notes
from hindsight_core.memorize.rules.segments import (
    announces,
    asks_to_keep_the_above,
    explains,
    names_in_passing,
    segments,
    tidy,
    unmasked,
)
from hindsight_core.memorize.rules.speech import (
    CONCRETE,
    Reading,
    Setting,
    is_order,
    is_question,
    kind_of,
    read,
    strip_lead,
)
from hindsight_core.memorize.rules.words import Sentence, mask, sentences

if TYPE_CHECKING:
    from hindsight_core.transcript.entry import Entry

MAX_QUESTION = 200
_LAST_SENTENCE = re.compile(r"(?<=[.!?\uff1f\u3002])\s+")
_ASKED = re.compile(r"[?\uff1f]\s*$")


@dataclass(slots=True)
class Message:
    """Reads one message into the notes.

    Attributes:
        notes: What is kept so far.
        entry: The message.
        number: Its place among the user's messages of the window.
        answered: What the assistant said before it; empty when nothing.
        earlier: The user's messages before it.
    """

    notes: Notes
    entry: Entry
    number: int
    answered: str
    earlier: list[str]

    def hear(self) -> None:
        """Weigh every sentence."""
        found = sentences(self.entry.text)
        if not found:
            return
        corrects = bool(opens("correction", found[0].masked))
        question = self._question(found[0].masked)
        before: list[str] = []
        scoped = joined = False
        for number, heard in enumerate(found):
            sentence = self._taken_back(heard, number)
            if sentence is None:
                continue
            if asks_to_keep_the_above(sentence):
                self._keep_all(found[:number])
                continue
            scoped = scoped or announces(sentence)
            asked = question if number == 0 else ""
            for segment in segments(sentence):
                revises = self.notes.revises(segment.text)
                setting = Setting(corrects, asked, scoped, revises)
                joined = self._weigh(segment, setting, before, follows=joined)
            before.append(sentence.text)
        self.notes.say(before)

    def _taken_back(self, sentence: Sentence, number: int) -> Sentence | None:
        """Drop what the user takes back; what else the sentence says, or None."""
        lead = strip_lead(sentence.masked)
        for offset in (0, lead):
            found = opens("retract", sentence.masked[offset:])
            if found is not None:
                break
        else:
            return sentence
        self.notes.drop_message(self.number if number else self.number - 1)
        rest = unmasked(sentence, offset + found.end())
        if len(content_stems(rest)) < 2:
            return None
        return Sentence(rest, mask(rest), sentence.listed, sentence.heading)

    def _weigh(
        self, sentence: Sentence, setting: Setting, before: list[str], *, follows: bool
    ) -> bool:
        """Keep a sentence, join it to the one kept before it, or pass it over (False)."""
        if gives_away(sentence.text):
            return False
        reading = read(sentence.masked, setting) or names_in_passing(sentence)
        words = sentence.masked[strip_lead(sentence.masked) :]
        if reading is None:
            return follows and explains(words) and self.notes.extend_last(tidy(sentence.text))
        self.notes.take_back(sentence.text)
        body = unmasked(sentence, reading.start)
        bare = not CONCRETE.search(body) and len(body.split()) <= 7
        leans = (bare or topic.needs_previous(words)) and reading.act != "explicit"
        if not (follows and leans and self.notes.extend_last(tidy(body))):
            if opens("others", words) and reading.act != "explicit":
                return False  # nobody can tell who that is
            self.notes.add(self._note(body, sentence, reading, setting, before))
        return True

    def _note(
        self,
        body: str,
        sentence: Sentence,
        reading: Reading,
        setting: Setting,
        before: list[str],
    ) -> Note:
        plain = tidy(body)
        # Who sets something right speaks of the cause, not of what was named before.
        named = [] if setting.corrects else [*self.earlier[-2:], self.answered]
        text = topic.with_topic(plain, mask(body), [*named, *before])
        question = setting.question if opens("yes", sentence.masked) else ""
        if question and not content_stems(question) <= content_stems(text):
            text = f"{text} (asked: {question}?)"
        listed = f"{sentence.heading} {body}"
        return Note(
            text=text,
            act=reading.act,
            kind=kind_of(listed) if sentence.heading else reading.kind,
            message=self.number,
            entry_id=self.entry.id,
            said_at=self.entry.timestamp,
            quote=sentence.text,
            order=reading.order and text.startswith(plain),
        )

    def _keep_all(self, found: list[Sentence]) -> None:
        """The statements before "write that down" are explicit."""
        have = " ".join(note.quote for note in self.notes.kept)
        for sentence in found:
            words = sentence.masked[strip_lead(sentence.masked) :]
            states = not (is_question(words) or is_order(words) or has("hedge", words))
            states = states and not gives_away(sentence.text)
            if states and sentence.text not in have and len(content_stems(words)) >= 3:
                start = strip_lead(sentence.masked)
                reading = Reading("explicit", kind_of(words), start, order=False)
                body = unmasked(sentence, start)
                self.notes.add(self._note(body, sentence, reading, Setting(), []))

    def _question(self, first: str) -> str:
        """The question of the assistant that the message agrees to."""
        asked = _LAST_SENTENCE.split(self.answered.strip())[-1] if self.answered else ""
        if not _ASKED.search(asked) or len(asked) > MAX_QUESTION or opens("task", asked):
            return ""
        chosen = has("either", asked) and content_stems(asked) & content_stems(first)
        if not (opens("yes", first) or chosen):
            return ""
        return tidy(_ASKED.sub("", asked))
