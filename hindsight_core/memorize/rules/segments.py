"""Parts of a sentence that are weighed on their own, and what their form says."""

from __future__ import annotations

import re
from functools import lru_cache

from hindsight_core.memorize.lexicon import content_stems
from hindsight_core.memorize.rules import topic
from hindsight_core.memorize.rules.cues import cue, has, opens, source
from hindsight_core.memorize.rules.speech import Reading, is_order, is_question, strip_lead
from hindsight_core.memorize.rules.words import Sentence, mask

_SEGMENT = re.compile(r"\s*;\s+|\s*\uff1b\s*")
_THINGS = re.compile(r"(?:\w+ ){0,4}things?\b", re.IGNORECASE)


def segments(sentence: Sentence) -> list[Sentence]:
    """The parts that semicolons or coordinated orders divide, where they are not of one sort."""
    parts = [p for p in _SEGMENT.split(sentence.text) if p.strip()]
    if len(parts) > 1 and not any(_discarded(mask(part)) for part in parts):
        parts = [sentence.text]
    final: list[str] = []
    for part in parts:
        lead = strip_lead(mask(part))
        cut = _second_part(part) if is_order(mask(part)[lead:]) else None
        final.extend([part] if cut is None else [part[: cut[0]], part[cut[1] :]])
    if final == [sentence.text]:
        return [sentence]
    return [Sentence(p, mask(p), sentence.listed, sentence.heading) for p in final]


def names_in_passing(sentence: Sentence) -> Reading | None:
    """An order that says beside what something is called or where it is."""
    masked = sentence.masked
    words = masked[strip_lead(masked) :]
    if has("moment", masked) or has("hedge", masked) or is_question(words):
        return None
    named = opens("task", words) and _naming_clause().search(words)
    return Reading("fact", "fact", strip_lead(masked), order=True) if named else None


def announces(sentence: Sentence) -> bool:
    """Whether a sentence says that what follows is worth keeping."""
    if sentence.listed and sentence.heading:
        return has("remember", sentence.heading) or has("standing", sentence.heading)
    found = opens("remember", sentence.masked)
    return bool(found and _THINGS.match(found.group()))


def asks_to_keep_the_above(sentence: Sentence) -> bool:
    """Whether a sentence is "write that down" and hardly more."""
    if not has("remember_back", sentence.masked):
        return False
    return len(content_stems(cue("remember_back").sub(" ", sentence.masked))) < 5


def explains(words: str) -> bool:
    """Whether a sentence without a cue of its own gives the reason for the one before it."""
    if is_question(words) or is_order(words) or opens("subject", words):
        return False
    if has("hedge", words) or has("moment", words) or opens("chatter", words):
        return False
    return 4 <= len(words.split()) <= 20 and topic.leans_on_previous(words)


def unmasked(sentence: Sentence, start: int) -> str:
    """The text from a place in the masked sentence on (masking shortens spans)."""
    if sentence.masked[:start] == sentence.text[:start].replace("\u2019", "'"):
        return sentence.text[start:]
    return sentence.text[len(sentence.text) - len(sentence.masked) + start :]


def tidy(text: str) -> str:
    """One line without list marks and final stop, its first word capitalised if it is a word."""
    plain = re.sub(r"\s+", " ", text).strip().strip("-\u2013\u2014*\u2022 ")
    plain = plain.rstrip(" .;,!\u3002\uff01\uff1b\uff0c")
    first = re.match(r"[^\W\d_]+(?:'\w+)?(?=\s|$)", plain)
    if first and first.group().islower():
        plain = plain[:1].upper() + plain[1:]
    return plain


def _discarded(masked: str) -> bool:
    words = masked[strip_lead(masked) :]
    return bool(opens("task", words) or has("moment", words) or has("hedge", words))


def _second_part(text: str) -> tuple[int, int] | None:
    """Where something lasting begins behind an order: "do this, we use that", "and key it by"."""
    for match in re.finditer(r",\s+(?=\w)", text):
        if opens("practice", text[match.end() :]):
            return match.start(), match.end()
    for match in re.finditer(r",?\s+(\w{1,3})(?=(\s+))", text):
        end = match.end(2)
        joins = opens("lead", text[match.start(1) :])
        if joins and (opens("design", text[end:]) or opens("structural", text[end:])):
            return match.start(), end
    return None


@lru_cache(maxsize=1)
def _naming_clause() -> re.Pattern[str]:
    return re.compile(rf",\s+(?:\w{{1,3}} )?{source('names')}\S*[`\"'/_.\d]\S*", re.IGNORECASE)
