"""Turns what happened into ``hindsight_event``, for plugins that only watch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindsight_core.hookspecs import hookimpl

if TYPE_CHECKING:
    from hindsight_core.memory import Receipt
    from hindsight_core.plugins.facade import Hooks
    from hindsight_core.turns import RecallOutcome, Turn

SPAN = ("mode", "startedAt", "endedAt", "durationMs", "status", "cache", "reason")
EVENTS = {
    "recall": ("session", "turn", "outcome", "reason", "queries", "found", "injected"),
    "store": ("document", "outcome", "reason", "facts"),
    "retrieval": (*SPAN, "retrievalId", "bankId", "kind", "rawIds", "keptIds", "injectedIds"),
    "injection": (*SPAN, "retrievalIds", "injected", "renderedHash", "renderedLength"),
    "decision": (*SPAN, "bankIds", "backend", "attempt", "ladder", "droppedBanks"),
    "retain": (
        *SPAN,
        "bankId",
        "documentId",
        "factIds",
        "bankIds",
        "decisionReason",
        "droppedBanks",
    ),
}


class EventPlugin:
    """Tells ``recall`` after each turn and ``store`` after each write; no texts.

    Args:
        hooks: Where watchers are registered.
    """

    def __init__(self, hooks: Hooks) -> None:
        self._hooks = hooks

    @hookimpl
    async def hindsight_after_recall(self, turn: Turn, outcome: RecallOutcome) -> None:
        """Event ``recall``."""
        await self._hooks.event(
            "recall",
            session=turn.session_id,
            turn=turn.id,
            outcome=outcome.outcome,
            reason=outcome.reason,
            queries=len(outcome.searched),
            found=outcome.found,
            injected=len(outcome.hits) if outcome.block else 0,
        )

    @hookimpl
    async def hindsight_after_store(self, receipt: Receipt) -> None:
        """Event ``store``."""
        await self._hooks.event(
            "store",
            document=receipt.document_id,
            outcome=receipt.outcome,
            reason=receipt.reason,
            facts=len(receipt.fact_ids),
        )
