"""Variables of the templates of recall: queries, tasks, briefing, reminder, blocks."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from hindsight_core.prompt_fields import FactLine, TaskTurn


@dataclass(frozen=True, slots=True)
class RecallQueries:
    """``recall/queries``: the latest request and the conversation before it (pi/R-03).

    Attributes:
        reflect: A question may be answered by the bank itself (``recall.reflect``).
    """

    request: str
    context: str
    reflect: bool = False


@dataclass(frozen=True, slots=True)
class SessionStart:
    """``recall/session_start``: the query of a recall that no prompt has shaped (oc/O-RCL-1)."""


@dataclass(frozen=True, slots=True)
class CompactionQuery:
    """``recall/compaction``: the last message and the last turns, as a query (oc/O-CMP-2)."""

    request: str
    transcript: str


@dataclass(frozen=True, slots=True)
class RecallFollowup:
    """``recall/followup``: what was asked for and what was found, with effort ``thorough``."""

    request: str
    queries: tuple[str, ...]
    facts: tuple[FactLine, ...]


@dataclass(frozen=True, slots=True)
class RecallJudge:
    """``recall/judge``: what is asked, the search key and its numbered hits (pi/R-12)."""

    request: str
    query: str
    facts: tuple[FactLine, ...]


@dataclass(frozen=True, slots=True)
class TaskDetect:
    """``tasks/detect``: one message of the user; it is rendered once for each of them (pi/T-04).

    Attributes:
        history: The turns that this message tells, oldest first.
        title: The task's name, in the first message; empty while it has none.
        past_titles: Names of earlier tasks, in the first message.
    """

    history: tuple[TaskTurn, ...]
    title: str = ""
    past_titles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Briefing:
    """``tasks/briefing``: a task and what was found about it (pi/T-14)."""

    request: str
    facts: tuple[FactLine, ...]


@dataclass(frozen=True, slots=True)
class RecallBlock:
    """``blocks/recall``: the facts of a turn, best first; the core wraps it."""

    queries: tuple[str, ...]
    found: int
    facts: tuple[FactLine, ...]


@dataclass(frozen=True, slots=True)
class BriefingBlock:
    """``blocks/briefing``: what memory knows about a task, as prose; the core wraps it."""

    queries: tuple[str, ...]
    found: int
    briefing: str
    facts: tuple[FactLine, ...]


@dataclass(frozen=True, slots=True)
class QueryHead:
    """``recall/plain_head``: what stands before the talk in a plain query (s1/S-REC-2).

    ``scope`` is ``project`` or ``user``; each of the others is empty where it is not wanted.
    """

    preamble: str
    date: str
    scope: str
    project: str
    repo: str
    folder: str


@dataclass(frozen=True, slots=True)
class ModelText:
    """A mental model in ``blocks/mental_models``."""

    name: str
    text: str
    bank: str | None = None

    def __str__(self) -> str:
        """How ``{{ models }}`` shows it."""
        return self.text


@dataclass(frozen=True, slots=True)
class MentalModelsBlock:
    """``blocks/mental_models``: what the banks concluded, before the facts (s1/S-MM-1)."""

    models: tuple[ModelText, ...]


@dataclass(frozen=True, slots=True)
class UserBlock:
    """``blocks/user``: what is known about the person, for the system prompt (pi/UB-08)."""

    facts: tuple[str, ...]
    text: str = ""


@dataclass(frozen=True, slots=True)
class Reminder:
    """``reminder/full`` and ``reminder/short``: that there is a memory (pi/B-09).

    Attributes:
        documents: How many the bank holds; None when nobody has counted.
        facts: The same for facts.
    """

    bank: str
    language: str
    documents: int | None = None
    facts: int | None = None


@dataclass(frozen=True, slots=True)
class Wrapper:
    """``core/open``, ``core/close``, ``core/reminder``: the wrapper's own lines."""

    kind: str


RECALL_STAGES: MappingProxyType[str, type] = MappingProxyType(
    {
        "recall/queries": RecallQueries,
        "recall/session_start": SessionStart,
        "recall/compaction": CompactionQuery,
        "recall/followup": RecallFollowup,
        "recall/judge": RecallJudge,
        "recall/plain_head": QueryHead,
        "blocks/mental_models": MentalModelsBlock,
        "tasks/detect": TaskDetect,
        "tasks/briefing": Briefing,
        "blocks/recall": RecallBlock,
        "blocks/briefing": BriefingBlock,
        "blocks/user": UserBlock,
        "reminder/full": Reminder,
        "reminder/short": Reminder,
    }
)
