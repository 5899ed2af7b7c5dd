"""Drops what is no fact by its form: headings, manners, requests to the person, open guesses.

Deterministic, and careful: an honest fact may speak of logs that are sent, of copying and pasting
(pi/M-15, pi/D-22). So a line goes only when the whole of it is a heading or manners, or when it
opens by addressing somebody.
"""

from __future__ import annotations

import re

from hindsight_core.memorize.rules.cues import opens

_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+")
_HEADING = re.compile(r"^#{1,6}\s|^\*\*[^*]{1,60}\*\*:?$|^[\w -]{1,40}:$")
_MANNERS = (
    r"none|n/?a|ok(?:ay)?|done|yes|no|sure|thanks?|thank you|great|got it|understood|noted",
    r"nothing(?: new| to (?:add|save|store|remember))?",
    r"да|нет|ок|готово|понял|понятно|спасибо|хорошо|ja|nein|danke|gut|erledigt",
    r"oui|non|merci|sí|gracias|listo|好的?|是的?|没有|谢谢",
)
_REQUESTS = (
    r"please|kindly|can you|could you|would you|let me know|now (?:run|send|paste|copy)",
    r"i(?:'ll| will)|we(?:'ll| will) (?:now|then|next)",
    r"(?:copy|paste|send|run|show|give|attach) (?:me|us|it|this|that|the|your|and) ?"
    r"(?:\w+ ){0,3}?(?:here|below|to me|back|output|logs?)",
    r"run (?:it|this|that|the \w+) and (?:send|paste|show)",
    r"пожалуйста|скопируй|пришли|запусти и пришли|отправь мне|bitte|kannst du|schick mir",
)
_ACKNOWLEDGEMENT = re.compile(rf"^(?:{'|'.join(_MANNERS)})[\s.!…]*$", re.IGNORECASE)
_ADDRESSED = re.compile(rf"^(?:{'|'.join(_REQUESTS)})\b", re.IGNORECASE)
_WIDE = re.compile(r"[\u3400-\u9fff]")
_SHORTEST = 4


def scrub(text: str) -> str | None:
    """A fact's line without list marks, or None when it is no fact."""
    line = " ".join(_BULLET.sub("", text).split())
    if len(line) < _SHORTEST and not _WIDE.search(line):
        return None
    if not any(c.isalnum() for c in line) or _HEADING.match(line) or _ACKNOWLEDGEMENT.match(line):
        return None
    if _ADDRESSED.match(line) or line.endswith(("?", "？")):
        return None
    return None if opens("hedge", line) else line
