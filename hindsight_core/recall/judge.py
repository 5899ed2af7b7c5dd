"""The judge: a small model scores one query's hits and says which to keep (pi/R-11..R-13)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hindsight_core.errors import BudgetExceeded, PromptError, ProviderError
from hindsight_core.memory import Hit, Query
from hindsight_core.prompt_contexts_recall import RecallJudge
from hindsight_core.recall.clip import clip
from hindsight_core.recall.lines import fact_lines
from hindsight_core.turns import Turn, Verdict

if TYPE_CHECKING:
    from hindsight_core.recall.answers import JudgeAnswer
    from hindsight_core.stages import Stages

logger = logging.getLogger("hindsight_core.recall")
UNJUDGED_SCORE = 50
MAX_TOKENS = 160
REQUEST_CHARACTERS = 4000


def unjudged(hits: Sequence[Hit], *, failed: bool = False) -> Verdict:
    """All hits kept at 50, or 0 when there is none: no judge was asked, or it failed."""
    return Verdict(score=UNJUDGED_SCORE if hits else 0, keep=tuple(hits), failed=failed)


def verdict(answer: JudgeAnswer, hits: Sequence[Hit]) -> Verdict:
    """A judge's answer applied to the hits: numbers out of range and repeats do not count.

    An empty choice is worth 0 whatever the score says, and 0 keeps nothing whatever the
    choice says.
    """
    wanted = set(answer.keep)
    keep = tuple(hit for number, hit in enumerate(hits, start=1) if number in wanted)
    score = answer.score if keep else 0
    return Verdict(score=score, keep=keep if score else ())


async def judge(
    stages: Stages, turn: Turn, query: Query, hits: Sequence[Hit], *, timeout_s: float
) -> Verdict:
    """Ask the judge; one that fails or is too slow keeps all candidates, marked as failed."""
    if not hits:
        return unjudged(hits)
    from hindsight_core.recall.answers import JudgeAnswer

    variables = RecallJudge(
        request=clip(turn.prompt, REQUEST_CHARACTERS),
        query=query.text,
        facts=fact_lines(hits, with_bank=False),
    )
    try:
        async with asyncio.timeout(timeout_s):
            answer = await stages.ask(
                "recall/judge",
                variables,
                JudgeAnswer,
                purpose="recall",
                max_tokens=MAX_TOKENS,
                session_id=turn.session_id,
            )
    except (ProviderError, BudgetExceeded, PromptError, TimeoutError) as error:
        logger.warning("the judge could not answer, its candidates are kept: %s", error or "slow")
        return unjudged(hits, failed=True)
    return verdict(answer, hits)
