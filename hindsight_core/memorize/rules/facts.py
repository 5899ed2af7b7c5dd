"""Kept statements as facts: no line reads as an order, none holds a credential."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hindsight_core.identity import fact_id
from hindsight_core.memory import Fact, Provenance

if TYPE_CHECKING:
    from hindsight_core.memorize.rules.notes import Note
    from hindsight_core.transcript.entry import Window

CATEGORIES = {
    "constraint": "constraints",
    "decision": "decisions",
    "pitfall": "pitfalls",
    "knowhow": "knowhow",
    "fact": "facts",
}
# An order that is stored as it was said could be taken for one later on.
LABELS = {
    "en": {"constraint": "User rule", "decision": "User decision", "": "User note"},
    "de": {"constraint": "Vorgabe", "decision": "Entscheidung", "": "Notiz"},
    "ru": {"constraint": "Правило", "decision": "Решение", "": "Заметка"},
    "fr": {"constraint": "Règle", "decision": "Décision", "": "Note"},
    "es": {"constraint": "Regla", "decision": "Decisión", "": "Nota"},
    "zh": {"constraint": "规则", "decision": "决定", "": "备注"},
}
_COMMON = {
    "de": "der die das und nicht mit ist für von den ein eine auf wir kein keine im",
    "fr": "le la les des et ne pas est pour avec une dans que nous sur",
    "es": "el los las y no es para con una en que se por",
}
_CREDENTIAL = re.compile(
    r"\[?\bredacted\b|\[secret|<redacted|\*{3,}"
    r"|\b(?:passwor[dt]|passwd|passphrase|login|pwd|pin|passwort|kennwort|пароль|mot de passe|contraseña|api[ _-]?key|token)\b"
    r"\s*(?:is|=|:|ist|это|est|es|\w+ /)\s*(?![\"'`]?(?:in|at|under|kept|stored|from)\b)\S+|密码\s*(?:是|：|:)",
    re.IGNORECASE,
)


def to_fact(note: Note, window: Window) -> Fact | None:
    """A statement as a fact, or None when it gives away a credential."""
    if _CREDENTIAL.search(note.text):
        return None
    text = framed(note)
    return Fact(
        id=fact_id(text),
        text=text,
        kind=note.kind,
        category=CATEGORIES.get(note.kind),
        timestamp=note.said_at,
        provenance=Provenance(
            source="user-rule",
            session_id=window.session_id,
            entry_ids=(note.entry_id,),
            host=window.host,
            speaker="user",
            quote=note.quote,
        ),
    )


def framed(note: Note) -> str:
    """The text of a note; one phrased as an order is told as the user's rule or decision."""
    if not note.order:
        return note.text
    labels = LABELS[language(note.text)]
    return f"{labels.get(note.kind, labels[''])}: {note.text[:1].lower()}{note.text[1:]}"


def language(text: str) -> str:
    """A guess by script and common words, good enough for a label."""
    letters = max(1, sum(c.isalpha() for c in text))
    if len(re.findall(r"[\u3400-\u9fff]", text)) * 4 > letters:
        return "zh"
    if len(re.findall(r"[а-яё]", text, re.IGNORECASE)) * 2 > letters:
        return "ru"
    words = set(re.findall(r"\w+", text.lower()))
    scores = {code: len(words & set(common.split())) for code, common in _COMMON.items()}
    best = max(scores, key=lambda code: scores[code])
    return best if scores[best] >= 2 else "en"
