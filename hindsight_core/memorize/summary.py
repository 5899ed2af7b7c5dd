"""The rolling summary of a session: what merging measures new notes against (pi/M-19)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from hindsight_core.errors import HindsightError
from hindsight_core.memorize.run import current
from hindsight_core.prompt_contexts import Summary
from hindsight_core.prompt_fields import FactLine
from hindsight_core.tokens import CHARACTERS_PER_TOKEN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hindsight_core.memorize.parts import Parts
    from hindsight_core.memory import Fact

logger = logging.getLogger("hindsight_core.memorize")


class Summaries:
    """Keeps one summary a bank and session, so that sessions never mix (pi/D-26).

    Args:
        parts: Where they are kept, who writes them, how long they may get.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def prior(self, session_id: str) -> str:
        """The summary so far; empty when there is none or it cannot be read."""
        if not self._parts.stages.available("retain"):
            return ""
        try:
            found = await self._parts.sessions.summary(self._parts.bank.id, session_id)
        except HindsightError as error:
            logger.info("no rolling summary: %s", error)
            return ""
        return found or ""

    async def fold(self, session_id: str, facts: Sequence[Fact]) -> None:
        """Fold new facts in; a failure costs the summary its news and nothing else."""
        parts = self._parts
        if not facts or not parts.stages.available("retain"):
            return
        current().calls += 1
        lines = tuple(FactLine(text=fact.text) for fact in facts)
        tokens = parts.settings.memorize.summary_max_tokens
        try:
            text = await parts.stages.write(
                "memorize/summary",
                Summary(current().prior_summary or "(empty)", lines, parts.language),
                purpose="retain",
                max_tokens=tokens,
            )
            if clean := parts.sanitiser.text(text, limit=tokens * CHARACTERS_PER_TOKEN):
                await parts.sessions.set_summary(parts.bank.id, session_id, clean)
        except HindsightError as error:
            logger.info("the rolling summary is not brought up to date: %s", error)
            current().passed.append(f"memorize/summary: {error}")
