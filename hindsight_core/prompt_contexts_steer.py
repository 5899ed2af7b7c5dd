"""Variables of the templates of steers: memories sent into a running loop (am/A-PROMPT)."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType

from hindsight_core.prompt_fields import BY_ID, FactLine


@dataclass(frozen=True, slots=True)
class SteerQuery:
    """``steer/query``: the conversation to make one search key of."""

    context: str


@dataclass(frozen=True, slots=True)
class SteerCandidate:
    """A memory that may be sent, in ``steer/judge``.

    Attributes:
        rank: Likeness times authority times confidence, as text.
        source: ``user`` or ``assistant``.
        confidence: 0 to 1, as text.
    """

    id: str
    text: str
    rank: str
    source: str
    confidence: str
    scope: str
    kind: str

    def __str__(self) -> str:
        """How ``{{ candidates }}`` shows it behind its id."""
        about = f"{self.source}, {self.scope}, {self.kind}"
        return f"{self.text} ({about}, confidence {self.confidence}, rank {self.rank})"


@dataclass(frozen=True, slots=True)
class SteerJudge:
    """``steer/judge``: the conversation and what may be sent into it."""

    context: str
    candidates: tuple[SteerCandidate, ...] = field(metadata=BY_ID)


@dataclass(frozen=True, slots=True)
class SteerBlock:
    """``blocks/steer``: memories as the agent sees them; the core wraps it."""

    facts: tuple[FactLine, ...] = field(metadata=BY_ID)


@dataclass(frozen=True, slots=True)
class SteerFeedback:
    """``steer/feedback``, ``core/steer_ids``: how a steer's memories are rated."""

    feedback_token: str
    memory_ids: str


STEER_STAGES: MappingProxyType[str, type] = MappingProxyType(
    {
        "steer/query": SteerQuery,
        "steer/judge": SteerJudge,
        "steer/feedback": SteerFeedback,
        "blocks/steer": SteerBlock,
        "core/steer_ids": SteerFeedback,
    }
)
