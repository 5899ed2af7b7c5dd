"""The variables of each template: one frozen class a stage, and nothing else may be used there.

``STAGES`` maps a stage (the template's path without suffix) to its class. Lists are rendered one
item a line by the templates. camelCase names of the active-memory plugin are accepted by
`hindsight_core.prompts`, not declared here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType

from hindsight_core.prompt_contexts_capture import CAPTURE_STAGES
from hindsight_core.prompt_contexts_decision import DECISION_STAGES
from hindsight_core.prompt_contexts_recall import RECALL_STAGES, Wrapper
from hindsight_core.prompt_contexts_steer import STEER_STAGES
from hindsight_core.prompt_fields import BY_ID, CategoryText, FactLine


@dataclass(frozen=True, slots=True)
class Extract:
    """``memorize/extract``: one chunk of a window (pi/K-05)."""

    transcript: str
    categories: tuple[CategoryText, ...] = field(metadata=BY_ID)
    language: str


@dataclass(frozen=True, slots=True)
class CategoryPart:
    """``memorize/category``: one part of a built-in category, ``clause`` or ``example``."""

    key: str
    part: str


@dataclass(frozen=True, slots=True)
class Merge:
    """``memorize/merge``: notes of several chunks, and the rolling summary (pi/M-13)."""

    notes: tuple[str, ...]
    prior_summary: str
    language: str


@dataclass(frozen=True, slots=True)
class Verify:
    """``memorize/verify``: numbered facts against the transcript (pi/M-14)."""

    transcript: str
    facts: tuple[FactLine, ...]
    language: str


@dataclass(frozen=True, slots=True)
class Topics:
    """``memorize/topics``: facts to make search keys of (pi/M-16)."""

    facts: tuple[FactLine, ...]
    language: str


@dataclass(frozen=True, slots=True)
class Dedup:
    """``memorize/dedup``: new facts against what the bank knows, both numbered (pi/M-17)."""

    facts: tuple[FactLine, ...]
    known: tuple[FactLine, ...]


@dataclass(frozen=True, slots=True)
class Invalidate:
    """``memorize/invalidate``: stored facts with ids against the transcript (pi/I-03)."""

    transcript: str
    facts: tuple[FactLine, ...] = field(metadata=BY_ID)


@dataclass(frozen=True, slots=True)
class Summary:
    """``memorize/summary``: the rolling summary and what is new (pi/M-19)."""

    prior_summary: str
    facts: tuple[FactLine, ...]
    language: str


@dataclass(frozen=True, slots=True)
class BankFacts:
    """``bank/facts``: a raw document for a bank without an extractor of its own."""

    content: str
    context: str
    mission: str


@dataclass(frozen=True, slots=True)
class Reflect:
    """``bank/reflect``, ``bank/reflect_listing``: a question and the facts found, with ids."""

    query: str
    facts: tuple[FactLine, ...] = field(metadata=BY_ID)


@dataclass(frozen=True, slots=True)
class RetainContext:
    """``bank/retain_context``: who speaks in a note, for a bank that extracts (pi/W-02)."""

    project: str
    source: str
    language: str


@dataclass(frozen=True, slots=True)
class Mission:
    """``bank/retain_mission`` and ``bank/observations_mission``."""

    language: str


@dataclass(frozen=True, slots=True)
class AfterWrite:
    """``bank/after_write``: what a server is asked about what it was just given."""

    project: str


@dataclass(frozen=True, slots=True)
class Repair:
    """``core/repair``: asks once more for an answer that could not be read."""

    answer: str
    error: str
    form: str


@dataclass(frozen=True, slots=True)
class Tool:
    """``tools/<name>``: an agent tool's description."""

    bank: str
    language: str


@dataclass(frozen=True, slots=True)
class MainTool:
    """``tools/hindsight_recall``, ``retain`` and ``reflect``; ``full``: with every parameter."""

    bank: str
    language: str
    full: bool = False


@dataclass(frozen=True, slots=True)
class RetainTask:
    """``commands/retain``: what the user wants studied and stored (pi/M-23)."""

    task: str
    bank: str
    language: str


@dataclass(frozen=True, slots=True)
class Companion:
    """``hosts/generic/skill``, ``hosts/mcp/instructions``: what an agent is told of the memory."""

    server: str


MEMORY_TOOLS = ("memory_search", "memory_store_result", "memory_correct", "memory_feedback")
STAGES: MappingProxyType[str, type] = MappingProxyType(
    {
        **RECALL_STAGES,
        **STEER_STAGES,
        "memorize/extract": Extract,
        "memorize/category": CategoryPart,
        "memorize/merge": Merge,
        "memorize/verify": Verify,
        "memorize/topics": Topics,
        "memorize/dedup": Dedup,
        "memorize/invalidate": Invalidate,
        "memorize/summary": Summary,
        "bank/facts": BankFacts,
        "bank/reflect": Reflect,
        "bank/reflect_listing": Reflect,
        "bank/retain_context": RetainContext,
        "bank/retain_mission": Mission,
        "bank/observations_mission": Mission,
        "bank/after_write": AfterWrite,
        **DECISION_STAGES,
        **CAPTURE_STAGES,
        "tools/hindsight_recall": MainTool,
        "tools/hindsight_retain": MainTool,
        "tools/hindsight_retain_user": Tool,
        "tools/hindsight_status": Tool,
        "tools/hindsight_scope": Tool,
        "tools/hindsight_config": Tool,
        "tools/hindsight_bank": Tool,
        "tools/hindsight_mental_model": Tool,
        "tools/hindsight_reflect": MainTool,
        "tools/hindsight_forget": Tool,
        **{
            f"tools/{name}{part}": Tool
            for name in MEMORY_TOOLS
            for part in ("", ".snippet", ".guidelines")
        },
        "commands/retain": RetainTask,
        "hosts/generic/skill": Companion,
        "hosts/mcp/instructions": Companion,
        "core/open": Wrapper,
        "core/close": Wrapper,
        "core/reminder": Wrapper,
        "core/repair": Repair,
    }
)
