"""Replaces secrets in text by a readable mark; names, and where they live, stay."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

MARK = "[secret removed]"


@dataclass(frozen=True, slots=True)
class SecretRule:
    """One shape of secret.

    Attributes:
        name: For tests and messages.
        pattern: Its group ``secret``, or the whole match, is replaced by the mark.
        needles: Lower-case strings; without one of them in a text the rule is not tried.
        accept: Says whether a match is a secret; None accepts all.
    """

    name: str
    pattern: re.Pattern[str]
    needles: tuple[str, ...] = ()
    accept: Callable[[re.Match[str]], bool] | None = None


class Redactor:
    """Removes secrets."""

    def __init__(
        self, rules: Iterable[SecretRule] = (), *, extra: Iterable[SecretRule] = ()
    ) -> None:
        self._rules = (*rules, *extra)

    def redact(self, text: str) -> str:
        """Text without secrets."""
        return text

    def named(self, name: str, value: str) -> str:
        """A value that stands under a name: the mark when the name says that it is secret."""
        return self.redact(value)
