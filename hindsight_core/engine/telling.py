"""Tells the person what a recall came to: trouble once, and once more when it is over."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hindsight_core.engine.live import LiveSession
    from hindsight_core.turns import RecallOutcome


class Told:
    """The notices and the widget of a session's recalls.

    Args:
        live: The session.
    """

    def __init__(self, live: LiveSession) -> None:
        self._live = live

    def look(self, outcome: RecallOutcome) -> None:
        """A recall has its answer."""
        live = self._live
        live.watch.recalled(outcome)
        if outcome.outcome == "failed" and self._is_away(outcome):
            live.notices.bank_away("recall", outcome.reason)
        elif outcome.outcome == "failed":
            live.notices.trouble("recall", f"Nothing was recalled: {outcome.reason}")
        elif (why := _degraded(outcome)) and live.runtime.stages.available("recall"):
            live.notices.trouble("model", f"Recall works without a model: {why}")
        elif outcome.outcome in ("injected", "empty"):
            live.notices.over("recall", "Recall works again.")
            if outcome.searched:
                live.notices.over("model", "The model for recall answers again.")

    def _is_away(self, outcome: RecallOutcome) -> bool:
        bank = self._live.runtime.bank_id
        return any(item.away and item.bank == bank for item in outcome.searched)


def _degraded(outcome: RecallOutcome) -> str | None:
    """Why no model answered, also where nothing was found without it."""
    if outcome.outcome == "degraded":
        return outcome.reason
    return outcome.details.get("degraded")
