"""Which facts may leave the machine: reviewed ones, nobody's private ones, never with a secret."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from hindsight_core.sharing.fact_file import FactFile, shared_form

if TYPE_CHECKING:
    from collections.abc import Callable

    from hindsight_core.memory import Fact

PRIVATE = "private"
_PERSONAL_KINDS = frozenset({"observation", "user_profile"})
_PERSONAL_SCOPES = frozenset({"global", "user", "personal", PRIVATE})


@dataclass(frozen=True, slots=True)
class Shareable:
    """Says it of each fact.

    Attributes:
        clean: The sanitising boundary, which redacts secrets.
        waiting: Documents that wait for a review.
        private_paths: ``security.private_paths``.
    """

    clean: Callable[[Fact], Fact]
    waiting: Collection[str] = frozenset()
    private_paths: Sequence[str] = field(default=())

    def why_not(self, fact: Fact) -> str | None:
        """Why a fact stays here; None when it may go."""
        if fact.state == "pending":
            return "it is pending"
        if fact.document_id in self.waiting:
            return "it waits for a review"
        if any(map(_is_personal, fact.tags)):
            return "its tags make it personal"
        if fact.metadata.get("scope", "").lower() in _PERSONAL_SCOPES:
            return "its scope is personal"
        if fact.metadata.get(PRIVATE, "").lower() in ("true", "yes", "1"):
            return "it is private"
        if fact.kind in _PERSONAL_KINDS:
            return f"its kind is {fact.kind}"
        if _names_private(fact, self.private_paths):
            return "it names a private path"
        return None

    def form(self, fact: Fact, *, clean: bool = True) -> FactFile | None:
        """What others may see of it; None for nothing. ``clean`` False: it is clean already."""
        if self.why_not(fact) is not None:
            return None
        form = shared_form(self.clean(fact) if clean else fact)
        return form if form.text else None


def _is_personal(tag: str) -> bool:
    name, _, scope = tag.lower().rpartition(":")
    return scope == PRIVATE or (name in ("scope", "visibility") and scope in _PERSONAL_SCOPES)


def _names_private(fact: Fact, patterns: Sequence[str]) -> bool:
    if not patterns:
        return False
    words = [word.strip("\"'`.,;:()[]") for word in fact.text.split()]
    words += [value for value in fact.metadata.values() if "/" in value or "." in value]
    return any(_matches(word, pattern) for word in words for pattern in patterns)


def _matches(word: str, pattern: str) -> bool:
    path, bare = word.removeprefix("./"), pattern.removeprefix("./").rstrip("/")
    return path == bare or path.startswith(f"{bare}/") or fnmatchcase(path, pattern)
