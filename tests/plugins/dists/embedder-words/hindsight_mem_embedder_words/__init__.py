"""Vectors from words and their beginnings, so that "decide" and "decision" are near."""

from __future__ import annotations

import hashlib
import math
import re

from pydantic import BaseModel

from hindsight_core import hookimpl


class Words(BaseModel):
    """The section ``plugins.embedder-words``."""

    dimensions: int = 512
    beginning: int = 4


class WordsEmbedder:
    """Each word and its beginning add one to a place of the vector."""

    def __init__(self, section: Words) -> None:
        self.identity = f"words/{section.dimensions}-{section.beginning}"
        self.dimensions = section.dimensions
        self._beginning = section.beginning

    async def embed(self, texts, *, kind):
        """One vector a text; queries and documents alike."""
        return [self._vector(text) for text in texts]

    def _vector(self, text):
        vector = [0.0] * self.dimensions
        for word in re.findall(r"\w+", text.lower()):
            for part in (word, word[: self._beginning]):
                digest = hashlib.sha256(part.encode("utf-8", "replace")).digest()
                vector[int.from_bytes(digest[:4], "big") % self.dimensions] += 1.0
        length = math.hypot(*vector) or 1.0
        return [number / length for number in vector]


@hookimpl
def hindsight_register_sections(register):
    """Let users choose the size."""
    register("embedder-words", Words)


@hookimpl
def hindsight_register_embedders(register):
    """Let users choose the embedder."""
    register("words", lambda settings, services: WordsEmbedder(services.section or Words()))
