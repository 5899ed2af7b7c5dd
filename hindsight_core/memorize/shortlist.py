"""Narrows down which of many statements one may relate to, so that few need comparing."""

from __future__ import annotations

from collections.abc import Iterable

from hindsight_core.memorize.lexicon import content_stems
from hindsight_core.memorize.similar import opening, replaced_words, statement


class Shortlist:
    """Numbered statements, found by the words they must hold to be related.

    `relation` is ``different`` unless the old statement has every word of the new one's subject,
    or of something that the new one replaces, or of the beginning that it extends. Looking those
    up by their rarest word leaves out nothing that a comparison of every pair would find.
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._stems: dict[int, frozenset[str]] = {}
        self._holders: dict[str, dict[int, None]] = {}
        for number, text in enumerate(texts):
            self.add(number, text)

    def add(self, number: int, text: str) -> None:
        """Take a statement in; one that had this number before is replaced."""
        self.remove(number)
        self._stems[number] = stems = content_stems(text)
        for word in stems:
            self._holders.setdefault(word, {})[number] = None

    def remove(self, number: int) -> None:
        """Forget a statement."""
        for word in self._stems.pop(number, ()):
            holders = self._holders[word]
            del holders[number]
            if not holders:
                del self._holders[word]

    def related(self, text: str) -> list[int]:
        """Numbers of what a new statement may be the same as or change, ascending."""
        wanted = [statement(text).subject, opening(text), *replaced_words(text)]
        return sorted({number for words in wanted for number in self.naming(words)})

    def naming(self, words: frozenset[str]) -> list[int]:
        """Numbers of the statements with all of these words, ascending; none for no words."""
        if not words:
            return []
        none: dict[int, None] = {}
        holders = (self._holders.get(word, none) for word in words)
        rarest = min(holders, key=len)
        return sorted(number for number in rarest if words <= self._stems[number])
