"""The lifecycle record of one fact: what a bank has no place for (am/A-REC-1)."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, StringConstraints

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Actor = Literal["user", "assistant"]
FactScope = Literal["global", "project"]
Outcome = Literal["useful", "unhelpful"]
Cause = Literal[
    "created", "relevant_recall", "useful_feedback", "consolidation", "grace", "restored"
]
ExpiredBy = Literal["low_confidence", "elapsed_time", "inactive_sessions", "person"]
Part = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Named = Annotated[str, StringConstraints(min_length=1)]


@dataclass(frozen=True, slots=True)
class Told:
    """How a memory came to be (am/A-REC-2).

    Attributes:
        actor: Whose words it rests on; an assistant's never replace a user's.
        session_id: The session in which it was said.
        cwd: The folder of that session.
        cause: What made it be stored: ``explicit_user_statement``, a prompt, a correction ...
        reason: Why it is worth keeping, for a person.
        elapsed_ms: How long an investigation had run, for those of the assistant.
        user_text: The message it was found in, cut to 500 characters, redacted.
        evidence: The exact words that say it, likewise.
        text: What the memory said then; only of what was before.
    """

    actor: Actor
    session_id: str = "unknown"
    cwd: str = ""
    cause: Named = "explicit_user_statement"
    reason: str = ""
    elapsed_ms: Annotated[int, Field(ge=0)] | None = None
    user_text: str | None = None
    evidence: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of the agent about a memory that it was shown."""

    outcome: Outcome
    session_id: str
    token: str
    reason: str
    at: dt.datetime


@dataclass(frozen=True, slots=True)
class LifeRecord:
    """What is known about a fact's standing, beside the bank's own fields.

    Text, kind, state and pin are the bank's. A record may be lost: its fact then begins anew
    with a grace (am/A-LIFE-2).

    Attributes:
        scope: ``project`` facts are found in their own project only.
        project: Id of that project; empty for ``global``.
        confidence: 0..1; decays each day, moved by feedback.
        decay_rate: Share of the confidence that is lost each day.
        priority: Weight beside other facts: 1 for the user's, less for the assistant's.
        told: How it came to be.
        earlier: The same of what it replaced or was made of, oldest first.
        useful: Answers that it helped.
        unhelpful: Answers that it did not.
        answers: The newest of them.
        decayed_on: Day (UTC) up to which decay is applied; None until its clock runs.
        relevant_at: When it last proved relevant.
        relevant_session: In which session.
        relevant_number: That session's number in its bank.
        reinforced: How often its clock was set back.
        cause: What set it last.
        expired_at: When it was retired; None while it is active.
        expired_by: What retired it.
        supersedes: Ids of facts whose place it took.
        succeeded_by: Id of the fact that took its place.
    """

    told: Told
    scope: FactScope = "project"
    project: str = ""
    confidence: Part = 0.5
    decay_rate: Part = 0.28
    priority: Part = 1.0
    created_at: dt.datetime | None = None
    updated_at: dt.datetime | None = None
    earlier: tuple[Told, ...] = ()
    useful: Annotated[int, Field(ge=0)] = 0
    unhelpful: Annotated[int, Field(ge=0)] = 0
    answers: tuple[Answer, ...] = ()
    decayed_on: dt.date | None = None
    relevant_at: dt.datetime | None = None
    relevant_session: str | None = None
    relevant_number: int | None = None
    reinforced: Annotated[int, Field(ge=0)] = 0
    cause: Cause = "created"
    expired_at: dt.datetime | None = None
    expired_by: ExpiredBy | None = None
    supersedes: tuple[str, ...] = ()
    succeeded_by: str | None = None


def encode(record: LifeRecord) -> str:
    """The record as one JSON text."""
    return _form().dump_json(record, exclude_defaults=True).decode()


def decode(text: str) -> LifeRecord:
    """The record of a JSON text; raises `ValueError` that says what is wrong with it."""
    return _form().validate_json(text)


@cache
def _form() -> TypeAdapter[LifeRecord]:
    from pydantic import TypeAdapter

    return TypeAdapter(LifeRecord)
