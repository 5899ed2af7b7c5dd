"""The judge of a steer: which memories are worth an interruption (am/A-RECALL, step 7)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hindsight_core.errors import BudgetExceeded, PromptError, ProviderError
from hindsight_core.memory import Query
from hindsight_core.prompt_contexts_steer import SteerCandidate, SteerJudge
from hindsight_core.recall.clip import one_line
from hindsight_core.recall.floor import evident
from hindsight_core.turns import Turn, Verdict

if TYPE_CHECKING:
    from hindsight_core.recall.steer.select import Ranked
    from hindsight_core.stages import Stages

logger = logging.getLogger("hindsight_core.recall")
STAGE = "steer/judge"
MAX_TOKENS = 400
CHOSEN = 100


async def judge_steer(
    stages: Stages, turn: Turn, query: Query, ranked: Sequence[Ranked], *, timeout_s: float
) -> Verdict:
    """Ask; where the judge fails, only what is evidently about the key is kept (degraded)."""
    if not ranked:
        return Verdict(score=0, keep=())
    from hindsight_core.recall.steer.answers import SteerJudgeAnswer

    variables = SteerJudge(turn.context, tuple(map(_candidate, ranked)))
    try:
        async with asyncio.timeout(timeout_s):
            answer = await stages.ask(
                STAGE,
                variables,
                SteerJudgeAnswer,
                purpose="recall",
                max_tokens=MAX_TOKENS,
                session_id=turn.session_id,
            )
    except (ProviderError, BudgetExceeded, PromptError, TimeoutError) as error:
        logger.warning("the judge of steers could not answer: %s", error or "slow")
        kept = evident(query, [item.hit for item in ranked])
        return Verdict(score=CHOSEN if kept else 0, keep=kept, failed=True)
    wanted = set(answer.relevant_ids)
    # Only what was shown to the judge counts, under its whole id or the bank's own.
    keep = tuple(i.hit for i in ranked if wanted & {i.hit.id, i.hit.fact.id})
    return Verdict(score=CHOSEN if keep else 0, keep=keep, reason=answer.reason or None)


def _candidate(item: Ranked) -> SteerCandidate:
    return SteerCandidate(
        id=item.hit.id,
        text=one_line(item.hit.fact.text),
        rank=f"{item.rank:.3f}",
        source=item.known.actor,
        confidence=f"{item.known.confidence:.2f}",
        scope=item.known.scope,
        kind=item.hit.fact.kind,
    )
