"""What a steer knows of a memory besides its text: whose it is, and what it is worth."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from hindsight_core.memory import Fact, Hit

Actor = Literal["user", "assistant"]
NEUTRAL = 0.5


@dataclass(frozen=True, slots=True)
class Known:
    """One memory's standing.

    Attributes:
        actor: Whose words it rests on.
        confidence: 0 to 1: how useful it has proved.
        weight: What its likeness is multiplied with: authority and confidence (am/A-RANK).
        scope: ``project`` or ``global``.
        session_id: The session it was made in.
        created_at: When.
        said: The words that it was taken from: while they are before the model, it adds nothing.
    """

    actor: Actor = "user"
    confidence: float = NEUTRAL
    weight: float = 0.5 + 0.5 * NEUTRAL
    scope: str = "project"
    session_id: str | None = None
    created_at: datetime | None = None
    said: tuple[str, ...] = ()

    @classmethod
    def of_fact(cls, fact: Fact, *, assistant_priority: float) -> Known:
        """For a fact that has no lifecycle: what its provenance tells."""
        told = fact.provenance
        by_agent = told.speaker == "assistant"
        return cls(
            actor="assistant" if by_agent else "user",
            weight=(assistant_priority if by_agent else 1.0) * (0.5 + 0.5 * NEUTRAL),
            session_id=told.session_id,
            created_at=fact.created_at,
            said=(told.quote,) if told.quote else (),
        )


LookUp = Callable[[Sequence[Hit]], Awaitable[Mapping[str, Known | None]]]
"""Standing of hits by their id (``bank:id``): None for a memory that is another project's; those
without a lifecycle may be missing."""
