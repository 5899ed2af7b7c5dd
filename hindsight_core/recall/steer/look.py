"""One steer: looks for what would change the agent's next steps, and makes its block."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hindsight_core.memory import Hit
from hindsight_core.recall.steer.block import steer_block
from hindsight_core.turns import RecallOutcome, Turn

if TYPE_CHECKING:
    from hindsight_core.recall.runner import RecallRunner

RATED_BY = "feedback"
"""Key of `RecallOutcome.details`: what ``memory_feedback`` needs to rate the memories."""
REASON = "why"
"""The same: the judge's reason."""
NOTHING_WORTH = "nothing is worth an interruption"


Issue = Callable[[Sequence[Hit]], Awaitable[str]]
"""Gives a token that nobody can guess, under which these memories can be rated from now on."""


class SteerPass:
    """Looks, as `hindsight_core.recall.runner.How`.

    Args:
        runner: Plans, searches and judges through the hooks.
        token: Gives the token of a steer.
    """

    def __init__(self, runner: RecallRunner, *, token: Issue) -> None:
        self._runner = runner
        self._token = token

    async def __call__(self, turn: Turn, deadline: float) -> RecallOutcome:
        """The steer's outcome with its block; raises `HindsightError`."""
        looked = await self._runner.look(turn, deadline=deadline)
        outcome = self._runner.conclude(turn, looked)
        if not outcome.hits:
            return replace(outcome, reason=outcome.reason or NOTHING_WORTH)
        token = await self._token(outcome.hits)
        block = steer_block(self._runner.stages.prompts, outcome.hits, token=token)
        if block is None:
            why = "the template blocks/steer rendered nothing"
            return replace(outcome, outcome="empty", reason=why, hits=())
        verdicts = (item.verdict for item in outcome.searched if item.verdict)
        why = next((verdict.reason for verdict in verdicts if verdict.reason), "")
        details = {**outcome.details, RATED_BY: token, REASON: why}
        return replace(outcome, block=block, details=details)
