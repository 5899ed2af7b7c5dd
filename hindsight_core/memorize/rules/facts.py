"""Kept statements as facts: no line reads as an order."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hindsight_core.identity import fact_id
from hindsight_core.memorize.rules.cues import LANGUAGES, wording
from hindsight_core.memory import Fact, Provenance

if TYPE_CHECKING:
    from hindsight_core.memorize.rules.notes import Note
    from hindsight_core.transcript.entry import Window

SOURCE = "user-rule"
CATEGORIES = {
    "constraint": "constraints",
    "decision": "decisions",
    "pitfall": "pitfalls",
    "knowhow": "knowhow",
    "fact": "facts",
}
_LABELS = {"constraint": "rule", "decision": "decision"}


def to_fact(note: Note, window: Window) -> Fact:
    """A statement as a fact that names its entry and its speaker."""
    text = framed(note)
    return Fact(
        id=fact_id(text),
        text=text,
        kind=note.kind,
        category=CATEGORIES.get(note.kind),
        timestamp=note.said_at,
        provenance=Provenance(
            source=SOURCE,
            session_id=window.session_id,
            entry_ids=(note.entry_id,),
            host=window.host,
            speaker="user",
            quote=note.quote,
        ),
    )


def framed(note: Note) -> str:
    """The text of a note; one phrased as an order is told as the user's rule or decision.

    An order that is stored as it was said could be taken for a new one later (br/BR-61).
    """
    if not note.order:
        return note.text
    label = wording(language(note.text))[_LABELS.get(note.kind, "note")]
    return f"{label}: {note.text[:1].lower()}{note.text[1:]}"


def language(text: str) -> str:
    """A guess by script and common words, good enough for a label."""
    letters = max(1, sum(c.isalpha() for c in text))
    if len(re.findall(r"[\u3400-\u9fff]", text)) * 4 > letters:
        return "zh"
    if len(re.findall(r"[\u0400-\u04ff]", text)) * 2 > letters:
        return "ru"
    words = set(re.findall(r"\w+", text.lower()))
    scores = {code: len(words & set(_common(code))) for code in LANGUAGES}
    best = max(LANGUAGES, key=lambda code: (scores[code], code == "en"))
    return best if scores[best] else "en"


def _common(code: str) -> list[str]:
    return wording(code).get("common", "").split()
