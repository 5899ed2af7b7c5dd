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


def fold(text: str, *, keep: str = "") -> tuple[str, list[int]]:
    """Letters and digits as they look, each with its place in the text.

    Args:
        text: Any text.
        keep: Punctuation that counts too.
    """
    letters: list[str] = []
    places: list[int] = []
    for place, char in enumerate(text):
        for part in unicodedata.normalize("NFKD", char.casefold()):
            look = _LOOKS_LIKE.get(part, part)
            if look.isalnum() or look in keep:
                letters.append(look)
                places.append(place)
    return "".join(letters), places


_TAG = re.compile(
    f"<(?:{fold('hindsight memor')[0]}|(?P<role>{'|'.join(fold(r)[0] for r in _ROLES)}))"
)


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
    folded, places = fold(text, keep="<")
    for match in reversed(list(_TAG.finditer(folded))):
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
    folded, places = fold(text)
    found: set[int] = set()
    for label in labels:
        beginning = fold(label)[0][:_LABEL_LETTERS]
        if len(beginning) == _LABEL_LETTERS:
            found |= {places[at.start()] for at in re.finditer(re.escape(beginning), folded)}
    return found
