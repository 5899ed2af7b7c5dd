"""A whole plugin: an embedder, its settings, a filter of facts and a template pack."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from hindsight_core import hookimpl

if TYPE_CHECKING:
    from hindsight_core.hookspecs import Register
    from hindsight_core.memory import Fact
    from hindsight_core.services import Services


class ToySettings(BaseModel):
    """The section ``plugins.toy``."""

    dimensions: int = 8


class ToyEmbedder:
    """Vectors from a hash: equal texts are equal, nothing else is near."""

    def __init__(self, dimensions: int) -> None:
        self.identity = f"toy/{dimensions}"
        self.dimensions = dimensions

    def embed(self, texts: Sequence[str], *, kind: str) -> list[list[float]]:
        """One vector a text."""
        return [[b / 255 for b in _digest(text)[: self.dimensions]] for text in texts]


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def _embedder(settings: Any, services: Services) -> ToyEmbedder:
    section = services.section or ToySettings()
    return ToyEmbedder(section.dimensions)


@hookimpl
def hindsight_register_embedders(register: Register) -> None:
    """Make ``embeddings.provider = "toy"`` possible."""
    register("toy", _embedder)


@hookimpl
def hindsight_register_sections(register: Register) -> None:
    """Make ``[plugins.toy]`` valid."""
    register("toy", ToySettings)


@hookimpl
def hindsight_template_dirs() -> Path:
    """Templates of this package, behind the user's own."""
    return Path(__file__).parent / "templates"


@hookimpl
def hindsight_filter_facts(facts: Sequence[Fact]) -> Sequence[Fact]:
    """Never keep what is only about lunch."""
    return [fact for fact in facts if "lunch" not in fact.text.lower()]
