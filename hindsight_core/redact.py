"""Replaces secrets in text by a readable mark; the name, and where a secret lives, stay.

``PAYHUB_API_KEY=[secret removed]`` still says that there is such a key and what it is called.
Commit ids, UUIDs, integrity hashes, paths, references such as ``$TOKEN`` and placeholders are
no secrets. Rules are data (`redact_rules`, `redact_shapes`, `redact_named`); plugins add
theirs by a hook.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from hindsight_core.redact_named import NAMED_RULES
from hindsight_core.redact_rules import PREFIX_RULES, SecretRule, Span
from hindsight_core.redact_shapes import SHAPE_RULES
from hindsight_core.redact_values import MARK, is_mixed, is_open, is_password_name, is_secret_name

__all__ = ["DEFAULT_RULES", "MARK", "Redactor", "SecretRule", "redacted"]

DEFAULT_RULES: tuple[SecretRule, ...] = (*SHAPE_RULES, *PREFIX_RULES, *NAMED_RULES)
_TRAILING = ".,;:!?)\\"


class Redactor:
    """Removes secrets from text, in time linear in its length.

    Args:
        rules: The built-in rules, or others instead of them.
        extra: Rules of plugins, tried after the built-in ones.
    """

    def __init__(
        self, rules: Iterable[SecretRule] = DEFAULT_RULES, *, extra: Iterable[SecretRule] = ()
    ) -> None:
        self._rules = (*rules, *extra)
        self._needles = frozenset(needle for rule in self._rules for needle in rule.needles)
        # Most texts hold no needle: they are asked only what needs none.
        self._always = tuple(rule for rule in self._rules if not rule.needles)

    def redact(self, text: str) -> str:
        """The text with every secret replaced by the mark."""
        view = _View(text, self._needles)
        for rule in self._rules if view.has_needles else self._always:
            if view.may_hold(rule):
                changed = _replaced(view.text, _spans(rule, view))
                if changed is not view.text:
                    view = _View(changed, self._needles)
        # A value that held a mark already was replaced up to the space in that mark.
        return view.text.replace(f"{MARK}{MARK[7:]}", MARK)

    def named(self, name: str, value: str) -> str:
        """A value that stands under a name, such as a tool's argument or a metadata field."""
        if is_secret_name(name) and not is_open(value) and len(value) >= 4:
            if is_password_name(name) or is_mixed(value, least=8):
                return MARK
        return self.redact(value)


def redacted(text: str) -> str:
    """A text without secrets of the built-in shapes; for where no plugin is loaded."""
    return _builtin().redact(text)


@cache
def _builtin() -> Redactor:
    return Redactor()


class _View:
    """A text, and where the needles of rules are in it."""

    def __init__(self, text: str, needles: Iterable[str]) -> None:
        self.text = text
        self._low = low = text.lower()
        # Many rules share a needle: each is looked for once.
        self._there = frozenset([needle for needle in needles if needle in low])
        self._areas: dict[tuple[str, ...], list[Span]] = {}

    @property
    def has_needles(self) -> bool:
        """Whether any needle of any rule is in the text."""
        return bool(self._there)

    def may_hold(self, rule: SecretRule) -> bool:
        """Whether any needle of the rule is in the text."""
        return not rule.needles or not self._there.isdisjoint(rule.needles)

    def areas(self, rule: SecretRule) -> list[Span]:
        """The parts of the text that the rule has to look at."""
        # A few letters change their length in lower case, and with it all places behind them.
        if not rule.local or len(self._low) != len(self.text):
            return [(0, len(self.text))]
        if rule.needles not in self._areas:
            self._areas[rule.needles] = list(_merged(sorted(self._lines(rule.needles))))
        return self._areas[rule.needles]

    def _lines(self, needles: Iterable[str]) -> Iterator[Span]:
        low = self._low
        for needle in needles:
            at = low.find(needle)
            while at >= 0:
                line_end = _line_end(low, at)
                yield low.rfind("\n", 0, at) + 1, _line_end(low, line_end + 1)
                at = low.find(needle, line_end)


def _line_end(text: str, at: int) -> int:
    found = text.find("\n", at)
    return len(text) if found < 0 else found


def _merged(spans: Iterable[Span]) -> Iterator[Span]:
    first, last = -1, -1
    for start, end in spans:
        if start > last:
            if last >= 0:
                yield first, last
            first = start
        last = max(last, end)
    if last >= 0:
        yield first, last


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _spans(rule: SecretRule, view: _View) -> Iterator[Span]:
    if rule.find is not None:
        for start, end in view.areas(rule):
            yield from rule.find(view.text, start, end)
        return
    pattern = _compiled(rule.pattern)
    group = "secret" if "secret" in pattern.groupindex else 0
    for area in view.areas(rule):
        for found in pattern.finditer(view.text, *area):
            if rule.accept is None or rule.accept(found):
                start, end = found.span(group)
                if end - start > 8:
                    end = start + len(found[group].rstrip(_TRAILING))
                yield start, end


def _replaced(text: str, spans: Iterable[Span]) -> str:
    pieces: list[str] = []
    at = 0
    for start, end in spans:
        if start >= at:
            pieces += (text[at:start], MARK)
            at = end
    return "".join((*pieces, text[at:])) if pieces else text
