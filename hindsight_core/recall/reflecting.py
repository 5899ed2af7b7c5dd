"""A question of fact, answered by the bank itself, with ``recall.reflect`` (off by default)."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from hindsight_core.errors import HindsightError
from hindsight_core.recall.reflect import reflect

if TYPE_CHECKING:
    from hindsight_core.recall.runner import RecallRunner
    from hindsight_core.turns import Plan, RecallOutcome, Turn

logger = logging.getLogger("hindsight_core.recall")
ANSWER_CHARACTERS = 4000


async def reflected(
    runner: RecallRunner, turn: Turn, plan: Plan, outcome: RecallOutcome, *, by: float
) -> RecallOutcome:
    """The outcome with a composed answer instead of its facts, where there is one in time.

    The facts that the search found stay what is shown when the bank is too slow or has nothing:
    a server takes tens of seconds to reflect.
    """
    if not outcome.hits or outcome.briefing is not None:
        return outcome
    try:
        async with asyncio.timeout_at(by):
            answer = await reflect(
                runner.bank(turn), runner.stages, plan.queries[0].text, sanitiser=runner.sanitiser
            )
    except (HindsightError, TimeoutError) as error:
        logger.info("no composed answer, the facts stand as they are: %s", error or "too slow")
        return outcome
    if answer.outcome != "ok":
        return outcome
    details = {**outcome.details, "operation": "reflect"}
    text = runner.sanitiser.fact_text(answer.text, limit=ANSWER_CHARACTERS)
    return replace(outcome, briefing=text, details=details) if text else outcome
