"""What a sentence of the user does: state a rule, a decision, a fact; or ask, order, chat."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from hindsight_core.memorize.lexicon import content_stems, lexicon
from hindsight_core.memorize.rules.cues import CueName, cue, has, opens, source

Act = Literal["explicit", "rule", "decision", "fact", "lesson", "agreed"]
KINDS: dict[Act, str] = {
    "explicit": "fact",
    "rule": "constraint",
    "decision": "decision",
    "fact": "fact",
    "lesson": "pitfall",
    "agreed": "decision",
}
CJK = "\\u3400-\\u9fff"
# A thing with a name of its own: code, number, path, identifier, abbreviation, any CJK word.
CONCRETE = re.compile(
    rf"`x`|\d|[\w-]+[./_:\\][\w./_:\\-]*\w|\w+\(\)|[a-z]+[A-Z]\w+|\b[A-Z]{{2,}}\w*|[{CJK}]"
)
_LABEL = re.compile(r"^[^\W\d][\w /-]{1,30}:\s+(?=[^\W\d])")
_VALUE = re.compile(
    r"\s*[~<>\u2248]?\s*(?:`x`|v?\d[\w.:,/-]*|[\w-]+[./_\\][\w./_\\-]*\w|[A-Z]\w+(?=\s*$)|([^\W\d]+))"
)
_ASK = re.compile(r"[?\uff1f][\"')\]\u201d\u00bb ]*$")
_HEAD = re.compile(r"([^:\uff1a]{1,60})[:\uff1a](?!:)\s")


@dataclass(frozen=True, slots=True)
class Setting:
    """What stood before a sentence in the conversation.

    Attributes:
        corrects: The message opens by setting something right.
        question: The assistant's question that the message agrees to; empty without one.
        scoped: The message announced that what follows is worth knowing.
        revises: The sentence replaces something that the user said before.
    """

    corrects: bool = False
    question: str = ""
    scoped: bool = False
    revises: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """A sentence worth keeping.

    Attributes:
        act: Why it is worth keeping.
        kind: The fact kind that goes with it.
        start: Where in the sentence the statement begins, behind lead-ins and cues.
        order: It is phrased as an order.
    """

    act: Act
    kind: str
    start: int
    order: bool


def strip_lead(masked: str) -> int:
    """Length of the interjections and connectives that a sentence opens with."""
    lead = _lead().match(masked)
    return lead.end() if lead else 0


def is_question(words: str) -> bool:
    """Whether a sentence asks, with or without a question mark."""
    return bool(_ASK.search(words) or opens("question", words))


def is_order(words: str) -> bool:
    """Whether a sentence without its lead-ins opens with an order."""
    adverb = opens("adverb", words)
    rest = words[adverb.end() :].lstrip(" ,") if adverb else words
    names: tuple[CueName, ...] = ("task", "design", "negative_order")
    return any(opens(name, text) for name in names for text in (words, rest))


def kind_of(words: str) -> str:
    """The fact kind that the words of a statement suggest."""
    names: tuple[tuple[CueName, str], ...] = (
        ("standing", "constraint"),
        ("obligation", "constraint"),
        ("bound", "constraint"),
        ("decision", "decision"),
        ("contrast", "decision"),
    )
    return next((kind for name, kind in names if has(name, words)), "fact")


def read(masked: str, setting: Setting) -> Reading | None:
    """What a sentence states for good, or None when it states nothing of that sort."""
    lead = strip_lead(masked)
    words = masked[lead:]
    if not words or _ASK.search(words):
        return None
    for offset in (0, lead):
        explicit = opens("remember", masked[offset:])
        if explicit:
            return _explicit(masked, offset + explicit.end())
    if opens("question", words) or _passing(masked) or _reports(masked):
        return None
    if setting.scoped and not opens("task", words) and not opens("subject", words):
        return Reading("explicit", kind_of(words), lead, is_order(words))
    act = _act(words, setting)
    return act and Reading(act, KINDS[act], lead, is_order(words))


@lru_cache(maxsize=1)
def _lead() -> re.Pattern[str]:
    free = rf"{source('lead')}(?:[,.:!]+\s*|\s+(?=\S))"
    marked = rf"{source('lead_marked')}[,.:!]+\s*"
    return re.compile(rf"(?:{free}|{marked}|[,.;:\-\u2013\u2014]+\s*)+", re.IGNORECASE)


def _reports(masked: str) -> bool:
    """Another's words: "the error is: ...", "he says: ..."."""
    head = _HEAD.match(masked)
    return bool(head and has("quoting", head.group(1)))


def _passing(masked: str) -> bool:
    """For this moment only, or not said as a fact."""
    return (has("moment", masked) and not has("permanent", masked)) or has("hedge", masked)


def _explicit(masked: str, start: int) -> Reading | None:
    cue_words = masked[:start]
    start += len(masked[start:]) - len(masked[start:].lstrip(" ,"))
    start += strip_lead(masked[start:])
    rest = masked[start:]
    if not content_stems(rest) or len(rest) < 4 or (_passing(rest) and not has("standing", rest)):
        return None
    kind = kind_of(rest)
    if kind == "fact" and has("decision_label", cue_words):
        kind = "decision"
    elif kind == "fact" and has("rule_label", cue_words):
        kind = "constraint"
    return Reading("explicit", kind, start, is_order(rest))


def _act(words: str, setting: Setting) -> Act | None:
    if len(content_stems(words)) < 2:
        return None
    if opens("task", words):
        return _ordered_task(words, setting)
    if opens("negative_order", words) or opens("design", words) or opens("structural", words):
        return _ordered_design(words, setting)
    if opens("chatter", words) and len(content_stems(words)) < 5:
        return None
    return _stated(words, setting)


def _ordered_task(words: str, setting: Setting) -> Act | None:
    """An order to do something now counts only when it sets a rule or revises a decision."""
    if setting.revises:
        return "decision"
    return "rule" if has("adverb", words) and not has("symptom", words) else None


def _ordered_design(words: str, setting: Setting) -> Act | None:
    if has("first_person", words):
        return None
    if has("standing", words) or has("bound", words):
        return "rule"
    contrast = has("contrast", words)
    wide = re.match(f"[{CJK}]", words) and contrast
    if opens("negative_order", words):
        return "rule" if has("universal", words) or has("reason", words) or wide else None
    if contrast or has("reason", words) or has("practice", words) or setting.revises:
        return "decision"
    return "decision" if opens("structural", words) and CONCRETE.search(words) else None


def _stated(sentence: str, setting: Setting) -> Act | None:
    words = _LABEL.sub("", sentence)
    private = has("praise", words) or has("first_person", words)
    mine = _personal(words) or (private and not CONCRETE.search(words))
    broken = has("symptom", words) and not has("modal", words)
    if has("decision", words) and not broken:
        return "decision"
    telling = CONCRETE.search(words) and len(content_stems(words)) >= 3
    if setting.corrects and not mine and (has("reason", words) or telling):
        return "lesson"
    if mine or broken:
        return "decision" if opens("practice", words) else None
    if has("standing", words) or has("obligation", words):
        return "rule"
    if any(opens("practice", clause) for clause in re.split(r"[,;]\s*(?:das\s)?", words)):
        return "decision"
    if setting.revises or has("contrast", words):
        return "decision"
    if setting.question:
        return "agreed"
    if has("reason", words) and CONCRETE.search(words):
        return "lesson"
    return _plain_fact(sentence)


def _personal(words: str) -> bool:
    """About the speaker or the agent rather than the project; a rule for the agent is not."""
    if not opens("subject", words) or opens("practice", words):
        return False
    return not (opens("agent", words) and has("standing", words))


def _plain_fact(words: str) -> Act | None:
    """A place, a name, a value, a permission: said of something that has a name."""
    if has("passing", words) or opens("we", words):
        return None
    habit = cue("habit").search(words)
    if habit and CONCRETE.search(words[habit.start() :]):
        return "fact"
    if opens("status", words):
        return None
    named = cue("named").search(words)
    if named and CONCRETE.search(words[named.start() :]):
        return "fact"
    if _gives_value(words):
        return "fact"
    return "fact" if has("permitted", words) and CONCRETE.search(words) else None


def _gives_value(words: str) -> bool:
    """Whether a dividing word is followed by a number, a path or a name."""
    marks = re.finditer(rf"{source('equals')}|[:=\uff1a\uff1d]", words, re.IGNORECASE)
    for mark in marks:
        value = _VALUE.match(words, mark.end())
        if value and (value.group(1) is None or value.group(1).lower() in lexicon().number):
            return True
    return False
