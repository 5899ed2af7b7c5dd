"""Words of software work that mean the same: short forms, near synonyms, other languages."""

from __future__ import annotations

from collections.abc import Mapping


class Glossary:
    """Looks up related words."""

    def related(self, word: str) -> Mapping[str, float]:
        """Other words for this one, with a strength 0..1."""
        return {}
