"""Facts of commits where no model reads them: what each says, as it says it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hindsight_core.hookspecs import hookimpl
from hindsight_core.identity import fact_id
from hindsight_core.memory import Fact, Provenance
from hindsight_core.transcript.characters import clip

if TYPE_CHECKING:
    from hindsight_core.stages import Stages
    from hindsight_core.transcript.entry import Entry, Window

HOST = "git"
SHORT = 10
_DIFF = "\n\nChanged:\n"
_LENGTH = 400
# What such a commit does says nothing about how things are.
_CHORE = re.compile(r"(?:chore|style|ci|build|test|tests|docs?)(?:\([^)]*\))?!?:", re.IGNORECASE)


def text_of(commit_id: str, message: str, diff: str = "") -> str:
    """A commit as memory reads it."""
    return f"Commit {commit_id[:SHORT]}: {message}" + (f"{_DIFF}{diff}" if diff else "")


class CommitFacts:
    """Asked before the rules, which look for what a person said to an agent.

    Args:
        stages: With a model it is the model that finds the facts.
    """

    def __init__(self, stages: Stages) -> None:
        self._stages = stages

    @hookimpl(tryfirst=True)
    def hindsight_extract_facts(self, window: Window) -> Sequence[Fact] | None:
        """One fact a commit of a repository's history."""
        if window.host != HOST or self._stages.available("retain"):
            return None
        return [fact for entry in window.entries if (fact := _fact(entry, window)) is not None]


def _fact(entry: Entry, window: Window) -> Fact | None:
    head, _, rest = entry.text.partition(_DIFF)[0].partition("\n")
    _, _, subject = head.partition(": ")
    body = " ".join(rest.strip().split("\n\n")[0].split())
    if not subject or (_CHORE.match(subject) and not body):
        return None
    text = clip(
        " ".join(f"{head}{'' if head.endswith(('.', '!')) else '.'} {body}".split()), _LENGTH
    )
    return Fact(
        id=fact_id(text),
        text=text,
        timestamp=entry.timestamp,
        provenance=Provenance(
            source="git",
            session_id=window.session_id,
            entry_ids=(entry.id,),
            host=HOST,
            commit=entry.id,
        ),
    )
