"""Takes from a recalled text the power to close or imitate the block that it stands in.

A text is compared in a folded form: compatibility forms, case, accents, invisible characters,
spacing, punctuation and letters that look like Latin ones make no difference. Only what matches
is changed, so that ordinary code (``List<User>``, ``a < b``) stays verbatim (pi/R-19, pi/D-12).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

OPEN_TAG = "hindsight-memory"
# The form that sanitising knows as no tag at all; an escaped entity would be one again.
ESCAPED = "\u2039"
QUOTED = "[quoted] "

# Enough of a label to recognise it by; a shorter one would be too ordinary a beginning.
_LABEL_LETTERS = 16
_FENCE = "end of recalled memory"
_ROLES = ("system", "user", "assistant", "human", "developer", "instruction", "toolresult")
_LOOKS_LIKE = {
    lookalike: letter
    for letter, lookalikes in {
        "a": "аα", "b": "βв", "c": "сϲ", "d": "ԁᴅ", "e": "еεᴇз3", "g": "ԍɡցɢ", "h": "һнհʜ",
        "i": "іӏιıɩɪl1", "j": "ј", "k": "кκ", "m": "мᴍ", "n": "пηոɴ", "o": "оοօᴏ0", "p": "рρ",
        "r": "гʀ", "s": "ѕꜱ5", "t": "тτᴛ", "u": "цυս", "v": "ѵν", "w": "ԝω", "x": "хχ", "y": "уγʏ",
        "<": "〈⟨❬❮≺˂ᐸ",
    }.items()
    for lookalike in lookalikes
}  # fmt: skip


class _Looks(dict[int, str]):
    """For `str.translate`: what each character looks like, worked out once.

    Args:
        keep: Punctuation that counts besides letters and digits.
    """

    def __init__(self, keep: str) -> None:
        self._keep = keep

    def __missing__(self, code: int) -> str:
        parts = unicodedata.normalize("NFKD", chr(code).casefold())
        looks = (_LOOKS_LIKE.get(part, part) for part in parts)
        self[code] = found = "".join(x for x in looks if x.isalnum() or x in self._keep)
        return found


LETTERS, TAGS = _Looks(""), _Looks("<")


def fold(text: str, looks: _Looks = LETTERS) -> str:
    """What counts of a text, as it looks: letters and digits, with `TAGS` the openings of tags."""
    return text.translate(looks)


def _places(text: str, looks: _Looks) -> list[int]:
    """Where in a text each character of its folded form stands."""
    return [place for place, char in enumerate(text) for _ in looks[ord(char)]]


_TAG = re.compile(f"<(?:{fold('hindsight memor')}|(?P<role>{'|'.join(fold(r) for r in _ROLES)}))")


def escape(text: str, *, labels: Iterable[str] = ()) -> str:
    """A fact's text with every imitation of a tag or of a label made harmless.

    Args:
        text: The fact, one line.
        labels: Lines of the wrapper; a fact must not look as if one of them stood in it.
    """
    for place in sorted(_label_places(text, (*labels, _FENCE)), reverse=True):
        text = text[:place] + QUOTED + text[place:]
    return escape_tags(text)


def escape_tags(text: str) -> str:
    """The text without tags of ours and of a host's roles, its other lines untouched."""
    found = list(_TAG.finditer(fold(text, TAGS)))
    places = _places(text, TAGS) if found else []
    for match in reversed(found):
        place = places[match.start()]
        # A type in code, ``List<User>``: a name, and a word that only begins with a capital.
        named = place > 0 and (text[place - 1].isalnum() or text[place - 1] == "_")
        generic = (
            named
            and text[place + 1 : place + 2].isupper()
            and text[place + 2 : place + 3].islower()
        )
        if not (match["role"] and generic):
            text = text[:place] + ESCAPED + text[place + 1 :]
    return text.replace("<|", f"{ESCAPED}|")


def unescape(text: str) -> str:
    """What a text was before `escape`."""
    return text.replace(QUOTED, "").replace(ESCAPED, "<")


def _label_places(text: str, labels: Iterable[str]) -> set[int]:
    folded = fold(text)
    beginnings = (fold(label)[:_LABEL_LETTERS] for label in labels)
    there = [b for b in beginnings if len(b) == _LABEL_LETTERS and b in folded]
    if not there:
        return set()
    places = _places(text, LETTERS)
    return {places[at.start()] for b in there for at in re.finditer(re.escape(b), folded)}
