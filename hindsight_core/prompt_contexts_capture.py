"""The variables of active memory's capture and consolidation templates (am/A-PROMPT)."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType

from hindsight_core.prompt_fields import BY_ID, FactLine


@dataclass(frozen=True, slots=True)
class Extraction:
    """``capture/extraction``: a message of the user, and the talk before it (am/A-CAP)."""

    user_text: str
    context: str
    project_id: str


@dataclass(frozen=True, slots=True)
class Validation:
    """``capture/validation``: one candidate as JSON against the message."""

    user_text: str
    context: str
    candidate: str


@dataclass(frozen=True, slots=True)
class MergeMemory:
    """``capture/merge``: a candidate and the stored memories near it (am/A-MERGE).

    ``actor`` is whose words the candidate rests on, ``user`` or ``assistant``.
    """

    candidate: str
    matches: tuple[FactLine, ...] = field(metadata=BY_ID)
    actor: str


@dataclass(frozen=True, slots=True)
class Investigation:
    """``capture/investigation``: a long piece of the agent's own work (am/A-ASST)."""

    investigation: str
    cause: str
    elapsed_seconds: int
    project_id: str


@dataclass(frozen=True, slots=True)
class InvestigationValidation:
    """``capture/investigation_validation``: one candidate as JSON against that work."""

    investigation: str
    cause: str
    elapsed_seconds: int
    candidate: str


@dataclass(frozen=True, slots=True)
class Consolidate:
    """``capture/consolidate``: memories that may be one (am/A-COMP)."""

    memories: tuple[FactLine, ...] = field(metadata=BY_ID)


@dataclass(frozen=True, slots=True)
class ConsolidateValidation:
    """``capture/consolidate_validation``: one memory that shall stand for several."""

    memories: tuple[FactLine, ...] = field(metadata=BY_ID)
    proposed: str


CAPTURE_STAGES: MappingProxyType[str, type] = MappingProxyType(
    {
        "capture/extraction": Extraction,
        "capture/validation": Validation,
        "capture/merge": MergeMemory,
        "capture/investigation": Investigation,
        "capture/investigation_validation": InvestigationValidation,
        "capture/consolidate": Consolidate,
        "capture/consolidate_validation": ConsolidateValidation,
    }
)
