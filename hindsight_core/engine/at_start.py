"""Recall that no prompt shapes: at a session's start, and for a compaction (oc/O-RCL, O-CMP)."""

from __future__ import annotations

import asyncio
import logging
from functools import cached_property
from typing import TYPE_CHECKING

from hindsight_core.errors import HindsightError

if TYPE_CHECKING:
    from hindsight_core.engine.live import LiveSession
    from hindsight_core.recall.session_start import SessionStart
    from hindsight_core.turns import RecallOutcome, Turn

logger = logging.getLogger("hindsight_core.engine")


class AtStart:
    """The part of a session's recall that ``recall.mode = session-start`` asks for.

    Whether it has looked is kept in memory: a block of the system prompt lives no longer than
    the host's process, and the next one has to look again.

    Args:
        live: The session.
    """

    def __init__(self, live: LiveSession) -> None:
        self._live = live

    @property
    def applies(self) -> bool:
        """Whether turns recall here and not by their prompts."""
        return self._live.runtime.settings.recall.mode == "session-start"

    async def run(self, turn: Turn) -> RecallOutcome:
        """The turn's recall: at the first one that is answered."""
        return await self._start.run(turn)

    def settle(self, outcome: RecallOutcome) -> None:
        """The turn's answer goes to the model."""
        if "_start" in self.__dict__:
            self._start.settle(outcome)

    def take_back(self) -> None:
        """The last answer did not reach the model (an aborted turn)."""
        if "_start" in self.__dict__:
            self._start.take_back()

    async def compacting(self, *, limit_s: float) -> str | None:
        """What memory adds to a compaction's input, within the limit; never raises."""
        live = self._live
        if not live.runtime.settings.recall.at_compaction or not live.recalls or live.is_child:
            return None
        from hindsight_core.recall.compaction import recall_for_compaction

        try:
            async with asyncio.timeout(limit_s):
                turn = await live.turn("compaction", "")
                outcome = await recall_for_compaction(
                    live.runtime.recall, live.runtime.settings, turn
                )
        except (TimeoutError, HindsightError) as error:
            live.notices.trouble("recall", f"Nothing was recalled for the compaction: {error}")
            return None
        except Exception:
            logger.exception("recall for a compaction failed")
            return None
        return outcome.block.text if outcome.block else None

    @cached_property
    def _start(self) -> SessionStart:
        from hindsight_core.recall.session_start import SessionStart

        return SessionStart(self._live.runtime.recall, self._live.runtime.settings)
