"""What the lists in template variables are made of: facts and categories."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

BY_ID = MappingProxyType({"lines": "ids"})
"""Field metadata: printed whole, such a list names its items by id instead of by number."""


@dataclass(frozen=True, slots=True)
class CategoryText:
    """A fact category as prompts show it (pi/K-02): ``banned`` ones are named to be left out."""

    key: str
    label: str
    heading: str
    clause: str
    example: str | None = None
    banned: bool = False

    def __str__(self) -> str:
        """How ``{{ categories }}`` shows it behind its key."""
        return self.clause


@dataclass(frozen=True, slots=True)
class FactLine:
    """A fact in a prompt or block; ``missing`` and ``changed`` are files that it names."""

    text: str
    id: str | None = None
    date: str | None = None
    origin: str | None = None
    kind: str | None = None
    evidence: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    def __str__(self) -> str:
        """How ``{{ facts }}`` shows it."""
        return self.text


@dataclass(frozen=True, slots=True)
class TaskTurn:
    """One turn as the task detector sees it (pi/T-02).

    Attributes:
        request: The user's words, shortened (pi/X-21).
        answer: First sentence of the answer before it (pi/X-20); empty when there was none.
        files: What that answer edited.
    """

    request: str
    answer: str = ""
    files: tuple[str, ...] = ()

    def __str__(self) -> str:
        """How ``{{ history }}`` shows it."""
        return self.request
