"""Puts what is written by itself before a person, and holds it back where that is wanted.

What the agent or a person asked to keep is not put there (pi/Q-02), and a run that stored nothing
leaves no entry (pi/D-24).
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from hindsight_core.errors import StorageError
from hindsight_core.state.review import ReviewQueue, Written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hindsight_core.config.settings import Settings
    from hindsight_core.memorize.parts import Parts
    from hindsight_core.memorize.target import Target
    from hindsight_core.memory import Document, Receipt

logger = logging.getLogger("hindsight_core.memorize")
HELD = "nothing of it is recalled before it is approved: `hindsight-mem review`"


def endpoint_of(settings: Settings, backend: str) -> str:
    """The server behind a backend, as an address that tells two of them apart; or nothing."""
    if backend == "hindsight":
        return f"{settings.hindsight.base_url}/v1/{settings.hindsight.namespace}"
    return settings.qdrant.url if backend == "qdrant" else ""


class Reviewing:
    """The write side of the review queue.

    Args:
        parts: Settings, bank and the queue's file.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._queue = ReviewQueue(parts.outbox.queue, parts.clock)

    def holds(self, target: Target) -> bool:
        """Whether this write waits for an approval."""
        return self._parts.settings.review.mode == "before" and not target.explicit

    async def hold(
        self, document: Document, target: Target, *, retire: Sequence[tuple[str, str]] = ()
    ) -> Document | None:
        """Make the entry durable first, then say what may be written before it is approved.

        Returns:
            The document with nothing in it that is recalled or retires something; None for a
            bank that finds facts by itself: there the document waits here.

        Raises:
            StorageError: The entry is not on disk: nothing is written.
        """
        away = document.facts is None
        written = replace(
            self._written(document, target, retire=retire),
            held=True,
            document=document if away else None,
        )
        await self._queue.add(written)
        if document.facts is None:
            return None
        pending = tuple(
            replace(fact, state="pending") if fact.state == "valid" else fact
            for fact in document.facts
        )
        return replace(document, facts=pending, supersedes=())

    async def enter(self, document: Document, target: Target, receipt: Receipt) -> None:
        """Put a write before a person, if it was one; trouble costs the write nothing (pi/Q-09)."""
        if (
            self._parts.settings.review.mode != "after"
            or target.explicit
            or receipt.outcome not in ("stored", "queued")
        ):
            return
        try:
            await self._queue.add(self._written(document, target))
        except StorageError as error:
            logger.warning("document %s is not in the review queue: %s", document.id, error)

    def _written(
        self, document: Document, target: Target, *, retire: Sequence[tuple[str, str]] = ()
    ) -> Written:
        parts = self._parts
        return Written(
            bank=parts.bank.id,
            document_id=document.id,
            backend=parts.bank.backend,
            endpoint=endpoint_of(parts.settings, parts.bank.backend),
            project=parts.project,
            language=parts.language,
            reason=target.reason,
            session_id=target.session_id,
            host=target.host,
            supersedes=document.supersedes,
            retire=tuple(retire),
        )
