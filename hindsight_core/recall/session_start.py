"""Recall once a session, for its system prompt: a mental model, or a search (oc/O-RCL)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from hindsight_core.memory import Hit
from hindsight_core.recall import outcomes
from hindsight_core.recall.block import model_block
from hindsight_core.recall.rounds import Looked
from hindsight_core.turns import RecallOutcome, Turn

if TYPE_CHECKING:
    from hindsight_core.banks.base import Bank
    from hindsight_core.config.settings import Settings
    from hindsight_core.recall.runner import RecallRunner

LOOKED = "recalled once, at the session's start"
NO_MODEL_YET = "the mental model is empty, or there is none of that id"
# What was looked for and was answered is over; what failed is tried again (oc/O-EV-2).
ANSWERED = ("injected", "empty", "degraded")


@runtime_checkable
class KeepsMentalModels(Protocol):
    """A bank with `Capabilities.mental_models`."""

    async def mental_model(self, model_id: str) -> str | None:
        """Its content; None while there is none. Raises `BankError`."""
        ...


class SessionStart:
    """Looks at the first turn that is answered, and at none after it.

    Args:
        runner: Plans, searches, and places what comes out.
        settings: Effective settings.
    """

    def __init__(self, runner: RecallRunner, settings: Settings) -> None:
        self._runner = runner
        self._settings = settings
        self._looked = False

    async def run(self, turn: Turn) -> RecallOutcome:
        """The turn's recall; as `RecallRunner.run`."""
        if self._looked:
            return RecallOutcome("skipped", reason=LOOKED)
        outcome = await self._runner.run(turn, how=self._look)
        if outcome.block is None:
            return outcome
        return replace(outcome, block=replace(outcome.block, placement="system"))

    def settle(self, outcome: RecallOutcome) -> None:
        """The turn's answer goes to the model."""
        self._looked = self._looked or outcome.outcome in ANSWERED

    def take_back(self) -> None:
        """The answer did not reach the model: the session has not begun yet."""
        self._looked = False

    async def _look(self, turn: Turn, deadline: float) -> RecallOutcome:
        bank, model = self._runner.bank(turn), self._settings.recall.session_start_mental_model
        # A bank that keeps none answers with what it has.
        if model is None or not isinstance(bank, KeepsMentalModels):
            return await self._search(turn, bank, deadline)
        content = await bank.mental_model(model)
        clean = self._runner.sanitiser.fact_text
        lines = [clean(line) if line.strip() else "" for line in (content or "").splitlines()]
        block = model_block(self._runner.stages.prompts, "\n".join(lines), name=model)
        if block is None:
            return RecallOutcome("empty", reason=NO_MODEL_YET)
        return RecallOutcome("injected", block=block)

    async def _search(self, turn: Turn, bank: Bank, deadline: float) -> RecallOutcome:
        looked = await self._runner.look(turn, deadline=deadline)
        outcome = self._runner.conclude(turn, looked)
        if outcome.outcome != "empty" or bank.capabilities.extracts:
            return outcome
        # A bank that finds by words finds nothing for a query without any of a fact's: the
        # newest facts are what a session's start is about.
        page = await bank.list_facts(limit=outcomes.line_cap(self._settings, turn))
        plan, query = looked.plan, looked.plan.queries[0]
        hits = [Hit(fact=fact, bank=bank.id, score=0.0) for fact in page.facts]
        newest = await self._runner.weighed(turn, plan, query, bank=bank.id, found=hits)
        return self._runner.conclude(turn, Looked(plan, (newest,)))
