"""The briefing: what was found about a new task, as a few sentences (pi/T-14)."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hindsight_core.errors import BudgetExceeded, PromptError, ProviderError
from hindsight_core.prompt_contexts_recall import Briefing
from hindsight_core.recall.clip import clip
from hindsight_core.recall.lines import fact_lines

if TYPE_CHECKING:
    from hindsight_core.memory import Hit
    from hindsight_core.stages import Stages
    from hindsight_core.turns import Turn

logger = logging.getLogger("hindsight_core.recall")
MAX_TOKENS = 400
REQUEST_CHARACTERS = 4000
# The words of an answer that nothing helps, not a sentence that begins like one.
_NONE = re.compile(r"\W*NONE\b", re.ASCII)


async def brief(
    stages: Stages, turn: Turn, hits: Sequence[Hit], *, with_bank: bool, by: float
) -> str | None:
    """One call for the prose; None when it helps with nothing, failed or came too late.

    The facts are there already, and stand as they are then: what was paid for is used. An answer
    in a form (JSON) is no prose.
    """
    if not hits or not stages.available("recall"):
        return None
    variables = Briefing(
        request=clip(turn.prompt, REQUEST_CHARACTERS),
        facts=fact_lines(hits, with_bank=with_bank),
    )
    try:
        async with asyncio.timeout_at(by):
            text = await stages.write(
                "tasks/briefing",
                variables,
                purpose="recall",
                max_tokens=MAX_TOKENS,
                session_id=turn.session_id,
            )
    except (ProviderError, BudgetExceeded, PromptError, TimeoutError) as error:
        logger.warning("no briefing, the facts stand as they are: %s", error or "too slow")
        return None
    text = text.strip()
    return None if not text or text[0] in "{[" or _NONE.match(text) else text
