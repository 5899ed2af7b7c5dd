"""Reads a window message by message and keeps what the user stated for good."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hindsight_core.memorize.lexicon import content_stems
from hindsight_core.memorize.rules import topic
from hindsight_core.memorize.rules.cues import cue, has, opens
from hindsight_core.memorize.rules.notes import Note, Notes
from hindsight_core.memorize.rules.speech import (
    Reading,
    Setting,
    is_order,
    kind_of,
    read,
    strip_lead,
)
from hindsight_core.memorize.rules.words import Sentence, mask, sentences

if TYPE_CHECKING:
    from hindsight_core.transcript.entry import Entry, Window

_SEGMENT = re.compile(r"\s*[;；]\s+|\s*；\s*")
_CONCRETE = re.compile(r"\d|[\w-]+[./_:\\]\w|\w+\(\)|[a-z][A-Z]|[A-Z]{2}|`|[\u3400-\u9fff]")
_QUESTION_END = re.compile(r"[?？]\s*$")
_NAMING_CLAUSE = re.compile(
    r",\s+(?:and )?(?:the|our|der|die|das|le|la|el)\s[^,;]*\b(?:is|are|ist|heißt|est|es|se llama|s'appelle)"
    r" (?:called |named |in |at |on )?\S*[`\"'/_.\d]\S*",
    re.IGNORECASE,
)


class Gatherer:
    """Walks through the entries of a window."""

    def __init__(self) -> None:
        self.notes = Notes()
        self._message = 0
        self._answered = ""
        self._earlier: list[str] = []

    def walk(self, window: Window) -> list[Note]:
        """Every statement of the window that still holds at its end."""
        for entry in window.entries:
            if entry.role == "assistant" and entry.text.strip():
                self._answered = entry.text
            if entry.role == "user" and not entry.synthetic and entry.id not in window.saved:
                self._message += 1
                self._hear(entry)
                self._earlier.append(entry.text)
                self._answered = ""
        return self.notes.kept

    def _hear(self, entry: Entry) -> None:
        found = sentences(entry.text)
        if not found:
            return
        first = found[0].masked
        corrects = bool(opens("correction", first))
        question = self._question(first)
        scoped, before, adjoining = False, list[str](), False
        for number, heard in enumerate(found):
            sentence = self._taken_back(heard, number)
            if sentence is None:
                continue
            if has("remember_back", sentence.masked) and not _states_more(sentence):
                self._keep_all(found[:number], entry)
                continue
            scoped = scoped or _announces(sentence)
            for segment in _segments(sentence):
                setting = Setting(
                    corrects=corrects,
                    question=question if number == 0 else "",
                    scoped=scoped,
                    revises=self.notes.revises(segment.text),
                )
                adjoining = self._weigh(segment, setting, entry, before, adjoining)
            before.append(sentence.text)
        self.notes.said.extend(before)

    def _taken_back(self, sentence: Sentence, number: int) -> Sentence | None:
        """Drop what the user takes back; what else the sentence says, or None."""
        lead = strip_lead(sentence.masked)
        found = opens("retract", sentence.masked) or opens("retract", sentence.masked[lead:])
        if found is None:
            return sentence
        self.notes.drop_message(self._message if number else self._message - 1)
        end = found.end() + (lead if found.string != sentence.masked else 0)
        rest = sentence.text[_unmasked(sentence, end) :]
        if len(content_stems(rest)) < 2:
            return None
        return Sentence(rest, mask(rest), sentence.listed, sentence.heading)

    def _weigh(
        self,
        sentence: Sentence,
        setting: Setting,
        entry: Entry,
        before: list[str],
        adjoining: bool,  # noqa: FBT001 - private
    ) -> bool:
        """Keep a sentence, join it to the one before it, or pass it over."""
        reading = read(sentence.masked, setting) or _naming(sentence)
        words = sentence.masked[strip_lead(sentence.masked) :]
        if reading is None:
            return adjoining and _explains(words) and self.notes.extend_last(_clean(sentence.text))
        if setting.revises or reading.act != "explicit" or has("obligation", words):
            self.notes.take_back(sentence.text)
        body = sentence.text[_unmasked(sentence, reading.start) :]
        leans = topic.needs_previous(words) or (not _CONCRETE.search(body) and len(body.split()) <= 7)
        if adjoining and leans and reading.act != "explicit" and self.notes.extend_last(_clean(body)):
            return True
        self.notes.add(self._note(body, sentence, reading, setting, entry, before))
        return True

    def _note(
        self,
        body: str,
        sentence: Sentence,
        reading: Reading,
        setting: Setting,
        entry: Entry,
        before: list[str],
    ) -> Note:
        text = _clean(body)
        named = [*self._earlier[-2:], *([self._answered] if self._answered else []), *before]
        text = topic.with_topic(text, mask(body), named)
        if setting.question and not content_stems(setting.question) <= content_stems(text):
            text = f"{text} (asked: {setting.question}?)"
        return Note(
            text=text,
            act=reading.act,
            kind=kind_of(f"{sentence.heading} {body}") if sentence.heading else reading.kind,
            message=self._message,
            entry_id=entry.id,
            said_at=entry.timestamp,
            quote=sentence.text,
            order=reading.order and text[:1] == _clean(body)[:1],
        )

    def _keep_all(self, found: list[Sentence], entry: Entry) -> None:
        """The statements before "write that down" are explicit."""
        have = {note.quote for note in self.notes.kept}
        for sentence in found:
            words = sentence.masked[strip_lead(sentence.masked) :]
            plain = not (_QUESTION_END.search(words) or opens("question", words) or is_order(words))
            known = any(sentence.text in quote for quote in have)
            if plain and not known and len(content_stems(words)) >= 3 and not has("hedge", words):
                reading = Reading("explicit", "fact", strip_lead(sentence.masked), order=False)
                body = sentence.text[_unmasked(sentence, reading.start) :]
                self.notes.add(self._note(body, sentence, reading, Setting(), entry, []))

    def _question(self, first: str) -> str:
        """The question of the assistant that a message agrees to."""
        if not self._answered or not opens("yes", first):
            return ""
        asked = re.split(r"(?<=[.!?？。])\s+", self._answered.strip())[-1]
        if not _QUESTION_END.search(asked) or len(asked) > 200 or opens("task", asked):
            return ""
        return _clean(_QUESTION_END.sub("", asked))


def _segments(sentence: Sentence) -> list[Sentence]:
    """The parts of a sentence that semicolons or coordinated orders divide, where they differ."""
    parts = [p for p in _SEGMENT.split(sentence.text) if p.strip()]
    if len(parts) > 1 and not any(_discarded(mask(part)) for part in parts):
        parts = [sentence.text]
    final: list[str] = []
    for part in parts:
        lead = strip_lead(mask(part))
        cut = _second_order(part) if is_order(mask(part)[lead:]) else None
        final.extend([part] if cut is None else [part[: cut[0]], part[cut[1] :]])
    if final == [sentence.text]:
        return [sentence]
    return [Sentence(p, mask(p), sentence.listed, sentence.heading) for p in final]


def _discarded(masked: str) -> bool:
    words = masked[strip_lead(masked) :]
    return bool(opens("task", words) or has("moment", words) or has("hedge", words))


def _second_order(text: str) -> tuple[int, int] | None:
    for match in re.finditer(r",?\s+(?:and|und|et|y|и)\s+", text):
        if opens("design", text[match.end() :]):
            return match.start(), match.end()
    return None


def _naming(sentence: Sentence) -> Reading | None:
    """An order that says in passing what something is called or where it is."""
    masked = sentence.masked
    if has("moment", masked) or has("hedge", masked) or _QUESTION_END.search(masked):
        return None
    words = masked[strip_lead(masked) :]
    if not opens("task", words) or not _NAMING_CLAUSE.search(masked):
        return None
    return Reading("fact", "fact", strip_lead(masked), order=True)


def _announces(sentence: Sentence) -> bool:
    if sentence.listed and sentence.heading:
        return has("remember", sentence.heading) or has("standing", sentence.heading)
    found = opens("remember", sentence.masked)
    return bool(found and re.match(r"(?:\w+ ){0,4}things?\b", found.group(), re.IGNORECASE))


def _states_more(sentence: Sentence) -> bool:
    rest = cue("remember_back").sub(" ", sentence.masked)
    return len(content_stems(rest)) >= 5


def _explains(words: str) -> bool:
    """Whether a sentence without a cue of its own gives the reason for the one before it."""
    if _QUESTION_END.search(words) or opens("question", words) or is_order(words):
        return False
    if has("hedge", words) or has("moment", words) or opens("chatter", words):
        return False
    mine = re.match(r"(?:i|i'm|i'll|you|ich|du|я|ты|je|tu|yo)\b", words, re.IGNORECASE)
    return not mine and 4 <= len(words.split()) <= 20 and topic.leans_on_previous(words)


def _unmasked(sentence: Sentence, start: int) -> int:
    """A place in the masked sentence as a place in the text (masking shortens spans)."""
    if sentence.masked[:start] == sentence.text[:start].replace("’", "'"):
        return start
    return len(sentence.text) - len(sentence.masked) + start


def _clean(text: str) -> str:
    plain = re.sub(r"\s+", " ", text).strip().strip("-–—*• ").rstrip(" .;,!。；，！")
    if re.match(r"[a-zäöüа-яé][a-zäöüа-яéß']*(?:\s|$)", plain) and not re.match(r"[a-z]+[A-Z_]", plain):
        plain = plain[:1].upper() + plain[1:]
    return plain
