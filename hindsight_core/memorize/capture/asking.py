"""The questions of capture, each a stage of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from hindsight_core.memorize.capture.answers import AcceptAnswer, MemoriesAnswer, MergeAnswer
from hindsight_core.memorize.run import current
from hindsight_core.prompt_contexts_capture import (
    Extraction,
    Investigation,
    InvestigationValidation,
    MergeMemory,
    Validation,
)
from hindsight_core.prompt_fields import FactLine

if TYPE_CHECKING:
    from pydantic import BaseModel

    from hindsight_core.memorize.capture.candidate import Candidate
    from hindsight_core.memorize.lifecycle.memory import Memory
    from hindsight_core.stages import Stages

A = TypeVar("A", bound="BaseModel")
MOST = 3
TOKENS = 1200


@dataclass(frozen=True, slots=True)
class Said:
    """A message of the user and the talk before it."""

    text: str
    context: str
    project: str

    @property
    def extraction(self) -> tuple[str, object]:
        """Stage and variables that ask for candidates."""
        return "capture/extraction", Extraction(self.text, self.context, self.project)

    def validation(self, candidate: str) -> tuple[str, object]:
        """Stage and variables that ask about one of them."""
        return "capture/validation", Validation(self.text, self.context, candidate)


@dataclass(frozen=True, slots=True)
class Work:
    """A long piece of the agent's own work.

    Attributes:
        text: What it said and what its tools gave back.
        cause: The request that it was for.
        elapsed_ms: How long it has taken.
        project: Id of the project.
    """

    text: str
    cause: str
    elapsed_ms: int
    project: str

    @property
    def seconds(self) -> int:
        """How long it has taken, for a prompt."""
        return round(self.elapsed_ms / 1000)

    @property
    def extraction(self) -> tuple[str, object]:
        """Stage and variables that ask for candidates."""
        variables = Investigation(self.text, self.cause, self.seconds, self.project)
        return "capture/investigation", variables

    def validation(self, candidate: str) -> tuple[str, object]:
        """Stage and variables that ask about one of them."""
        variables = InvestigationValidation(self.text, self.cause, self.seconds, candidate)
        return "capture/investigation_validation", variables


class Asking:
    """Asks the retain models.

    Args:
        stages: The model chain.
    """

    def __init__(self, stages: Stages) -> None:
        self._stages = stages

    @property
    def available(self) -> bool:
        """Whether any model could answer."""
        return self._stages.available("retain")

    async def memories(self, source: Said | Work) -> Sequence[dict[str, Any]]:
        """At most three raw candidates."""
        stage, variables = source.extraction
        return (await self._ask(stage, variables, MemoriesAnswer)).memories[:MOST]

    async def accepts(self, source: Said | Work, candidate: Candidate) -> AcceptAnswer:
        """An independent look at one candidate."""
        stage, variables = source.validation(candidate.shown)
        return await self._ask(stage, variables, AcceptAnswer)

    async def merge(self, text: str, matches: Sequence[Memory], *, actor: str) -> MergeAnswer:
        """What to do with a candidate beside the memories near it."""
        lines = tuple(
            FactLine(m.fact.text, m.fact.id, kind=m.fact.kind, origin=m.record.told.actor)
            for m in matches
        )
        return await self._ask("capture/merge", MergeMemory(text, lines, actor), MergeAnswer)

    async def _ask(self, stage: str, variables: object, form: type[A]) -> A:
        current().calls += 1
        return await self._stages.ask(stage, variables, form, purpose="retain", max_tokens=TOKENS)
