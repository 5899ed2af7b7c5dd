"""The variables of the decision layer's templates."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType

from hindsight_core.prompt_fields import BY_ID


@dataclass(frozen=True, slots=True)
class Question:
    """``decision/question``: what one question of a decision asks (s1/S-DEC-2).

    ``kind`` is ``inject``, ``read`` or ``write``; the others are of the bank, empty for ``inject``.
    """

    kind: str
    bank: str
    role: str
    purpose: str


@dataclass(frozen=True, slots=True)
class TaskState:
    """``decision/tasks``: the open tasks; ``known`` is false when nobody could read them."""

    known: bool
    tasks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RouteQuestion:
    """A question in ``decision/route``."""

    id: str
    text: str

    def __str__(self) -> str:
        """How ``{{ questions }}`` shows it behind its id."""
        return self.text


@dataclass(frozen=True, slots=True)
class Route:
    """``decision/route``: a turn, and what is to be decided about it (s1/S-DEC-10)."""

    last_user_message: str
    task_state: str
    activity: str
    questions: tuple[RouteQuestion, ...] = field(metadata=BY_ID)


DECISION_STAGES: MappingProxyType[str, type] = MappingProxyType(
    {
        "decision/route": Route,
        "decision/question": Question,
        "decision/tasks": TaskState,
    }
)
