"""How two statements relate, without a model: the same, more, a changed value, or different things.

Cautious by design: losing a fact to a wrong "same", or retiring one to a wrong "changed", is
worse than keeping two that say nearly the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from hindsight_core.memorize.lexicon import content_stems, lexicon, named, stem, tokens
from hindsight_core.memorize.rules.cues import source

Relation = Literal["same", "extended", "changed", "different"]
_NUMERIC = re.compile(r"^\d[\d.,:/\-]*$")


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement taken apart.

    Attributes:
        subject: Stems before the dividing word; all of them where there is none.
        words: Stems after it, without values and units.
        values: Numbers, times, versions and switch positions that it sets.
        negative: Whether it is negated (two negations cancel out).
        marker: It says itself that something has changed.
        divided: A dividing word was found.
        reason: Stems of the reason that is given behind it.
    """

    subject: frozenset[str]
    words: frozenset[str]
    values: tuple[str, ...]
    negative: bool
    marker: bool
    divided: bool
    reason: frozenset[str]

    @property
    def all_words(self) -> frozenset[str]:
        """Subject and words together."""
        return self.subject | self.words


@lru_cache(maxsize=4096)
def statement(text: str) -> Statement:
    """Take a statement apart; what stands behind a reason word is kept aside."""
    words = lexicon()
    found, why = _apart(tokens(named(text)))
    cut = next((i for i, t in enumerate(found) if t in words.link and _says(found[:i])), None)
    left, right = (found, found) if cut is None else (found[:cut], found[cut + 1 :])
    values = [_value(t) for n, t in enumerate(right, 1) if _sets(t, last=n == len(right))]
    return Statement(
        subject=_stems(left, numbers=cut is not None),
        words=_stems(right, numbers=False) if cut is not None else frozenset(),
        values=tuple(sorted(values)),
        negative=sum(t in words.negation for t in found) % 2 == 1,
        marker=any(t in words.marker for t in found),
        divided=cut is not None,
        reason=_stems([t for t in why if t not in words.reason], numbers=True),
    )


def relation(new: str, old: str) -> Relation:
    """What a new statement is to an old one.

    ``extended`` means that the new one says all that the old one says, and more: a reason, a
    detail, a number, a condition. ``changed`` means that the old one no longer holds: the same
    subject has another value, or the new one names what it replaces.
    """
    a, b = statement(new), statement(old)
    if _same(a, b):
        return _compared(a, b)
    if _revalued(a, b) or _reversed(a, b) or _replaces(new, a, b):
        return "changed"
    if _continues(new, old):
        return "extended"
    return "same" if _continues(old, new) and not _limited(old, new) else "different"


def restates(new: str, old: str) -> bool:
    """Whether a new statement says what an old one says, whatever either adds to it."""
    return _same(statement(new), statement(old)) or _continues(new, old)


def opening(text: str) -> frozenset[str]:
    """Stems of the least that a statement which this one extends may say; none for no such."""
    found = tokens(text)
    cut = next((n for n in range(2, len(found)) if _adds(found[n:])), None)
    return frozenset() if cut is None else content_stems(" ".join(found[:cut]))


def numbers(text: str) -> frozenset[str]:
    """Every number that a statement names."""
    words = lexicon()
    found = (t for t in tokens(text) if _NUMERIC.match(t) or t in words.number)
    return frozenset(_value(t) for t in found)


def replaced_words(text: str) -> list[frozenset[str]]:
    """What a statement says it replaces or rejects: stems of each named thing."""
    return list(_replaced_words(text))


@lru_cache(maxsize=512)
def _replaced_words(text: str) -> tuple[frozenset[str], ...]:
    return tuple(s for m in _replaced().finditer(text) if (s := content_stems(m.group(1))))


@lru_cache(maxsize=1)
def _replaced() -> re.Pattern[str]:
    until = r"(?=\s+(?:for|as|in|to|and|but|any\s?more)\b|[,;.()\uff0c\u3002]|$)"
    words = r"([^,;.()\uff0c\u3002]{1,40}?)"
    return re.compile(rf"{source('replaced')}\s*{words}{until}", re.IGNORECASE)


def _same(a: Statement, b: Statement) -> bool:
    if a.negative != b.negative or a.values != b.values:
        return False
    if a.all_words == b.all_words:
        return bool(a.all_words)
    if not a.values or a.subject != b.subject or not a.subject:
        return False
    # The value is the same and so is the subject: one side may name a unit or a detail.
    return not a.words or not b.words


def _compared(a: Statement, b: Statement) -> Relation:
    """Of two that say the same: whether the new one says why, or in more detail."""
    if a.reason and b.reason and not a.reason & b.reason:
        # Neither reason is told by the other one.
        return "different"
    more = a.reason - b.reason or a.all_words - b.all_words
    whole = b.reason <= a.reason and b.all_words <= a.all_words
    return "extended" if more and whole else "same"


def _continues(new: str, old: str) -> bool:
    """Whether the new one begins with all of the old one's words and goes on to qualify them."""
    found, first = tokens(new), tokens(old)
    if len(first) < 2 or len(found) <= len(first) or found[: len(first)] != first:
        return False
    tail = found[len(first) :]
    if not _adds(tail) or not _says(first):
        return False
    # A second number could be another value of what the old one says.
    return _qualifies(tail) or not any(_is_value(t) for t in first)


def _limited(longer: str, shorter: str) -> bool:
    """Whether it goes on with a condition: without that, the shorter one says something else."""
    return _conditional(tokens(longer)[len(tokens(shorter)) :])


def _adds(tail: list[str]) -> bool:
    return _qualifies(tail) or _quantifies(tail)


def _qualifies(tail: list[str]) -> bool:
    return tail[0] in lexicon().reason or _conditional(tail)


def _conditional(tail: list[str]) -> bool:
    """Whether it begins with "if", "only if", "but unless" and the like."""
    words = lexicon()
    behind = tail[0] in words.stop and len(tail) > 1 and tail[1] in words.condition
    return tail[0] in words.condition or behind


def _quantifies(tail: list[str]) -> bool:
    """Whether it is a number, or begins with up to two small words and a number: "to 3"."""
    words = lexicon()
    at = next((n for n, t in enumerate(tail[:3]) if _NUMERIC.match(t) or t in words.number), None)
    return at is not None and all(t in words.stop and t not in words.join for t in tail[:at])


def _revalued(a: Statement, b: Statement) -> bool:
    if not a.values or len(a.values) != len(b.values) or a.values == b.values:
        return False
    if a.negative != b.negative or not _alike(a.words, b.words):
        return False
    if not a.subject or not _one_class(a.values, b.values):
        return False
    if a.divided and b.divided:
        return a.subject == b.subject or (a.marker and a.subject < b.subject)
    if a.all_words == b.all_words:
        return True
    return a.marker and a.all_words < b.all_words


def _reversed(a: Statement, b: Statement) -> bool:
    same_words = a.all_words == b.all_words and len(a.all_words) >= 2
    if same_words and a.values == b.values:
        return a.negative != b.negative
    # One word against another only where both are names and the new one says that it changed.
    if not (a.marker and a.divided and b.divided and a.subject == b.subject and a.subject):
        return False
    one_each = len(a.words) == len(b.words) == 1 and not a.values and not b.values
    return one_each and a.negative == b.negative


def _replaces(new: str, a: Statement, b: Statement) -> bool:
    for gone in replaced_words(new):
        if not gone <= b.all_words or gone == a.all_words:
            continue
        rest = b.all_words - gone
        shared = rest & a.all_words
        if shared and len(shared) * 2 >= len(rest):
            return True
    return False


def _alike(a: frozenset[str], b: frozenset[str]) -> bool:
    if not a or not b or a == b:
        return True
    return len(a & b) * 5 >= len(a | b) * 3


def _one_class(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    toggles = lexicon().toggle
    return all((x in toggles) == (y in toggles) for x, y in zip(a, b, strict=True))


def _apart(found: list[str]) -> tuple[list[str], list[str]]:
    """What is said, and why."""
    reasons = lexicon().reason
    cut = next((i for i, t in enumerate(found) if t in reasons and _says(found[:i])), None)
    return (found, []) if cut is None or cut < 3 else (found[:cut], found[cut:])


def _says(found: list[str]) -> bool:
    return bool(_stems(found, numbers=True))


def _sets(token: str, *, last: bool) -> bool:
    """Whether a token is a value: a switch position such as "on" only at the end."""
    return _is_value(token) and (last or token not in lexicon().stop)


def _is_value(token: str) -> bool:
    words = lexicon()
    return bool(_NUMERIC.match(token)) or token in words.number or token in words.toggle


def _value(token: str) -> str:
    token = lexicon().number.get(token, token).rstrip(".,:/-")
    return token.replace(",", ".")


def _stems(found: list[str], *, numbers: bool) -> frozenset[str]:
    words = lexicon()
    skip = words.stop | words.link | words.marker | words.negation | words.unit
    return frozenset(
        stem(words.number.get(t, t))
        for t in found
        if t not in skip and any(c.isalnum() for c in t) and (numbers or not _is_value(t))
    )
