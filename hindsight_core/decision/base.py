"""What a decision backend and a reader of task lists are."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from hindsight_core.hookspecs import DecisionRequest
    from hindsight_core.transcript.entry import Entry


@runtime_checkable
class DecisionBackend(Protocol):
    """Answers questions with yes or no (spec s1, S-DEC-3 and S-DEC-13)."""

    def answer(
        self, state: DecisionRequest, questions: Mapping[str, str]
    ) -> Awaitable[Mapping[str, bool]] | Mapping[str, bool]:
        """One bool for each question.

        Args:
            state: What the user said last, the task state, recent activity.
            questions: Id of each question (``inject``, ``read:<bank>``, ``write:<bank>``) and
                what it asks.

        Raises:
            Exception: It cannot answer; so does an answer that leaves a question out or is no
                bool. The next backend is asked then.
        """
        ...


@runtime_checkable
class TaskReader(Protocol):
    """Finds the open tasks in the records of a session (spec s1, S-DEC-11)."""

    def read(self, entries: Sequence[Entry]) -> Sequence[str] | None:
        """Open tasks in their order; empty when none is open, None when there is no list here."""
        ...
