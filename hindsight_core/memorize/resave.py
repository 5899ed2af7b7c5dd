"""Memorizing a session anew: its new documents take the place of the old (pi/M-22, pi/D-03).

Nothing is deleted before its successor is in the bank: an old document goes only when everything
that it was made of is in windows that were stored again just now.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from hindsight_core.errors import BankError
from hindsight_core.state.succession import Successor, outlived, succeed

if TYPE_CHECKING:
    from hindsight_core.memorize.parts import Parts
    from hindsight_core.memorize.report import MemorizeReport
    from hindsight_core.memorize.sessions import Cut

logger = logging.getLogger("hindsight_core.memorize")


class Resave:
    """One re-collection.

    Args:
        parts: The bank, and the queue's file that knows a session's documents.
        session_id: The session.
        old: Its documents so far.
    """

    def __init__(self, parts: Parts, session_id: str, old: frozenset[str]) -> None:
        self._parts = parts
        self._session_id = session_id
        self._old = old
        self._new: list[Successor] = []

    @classmethod
    async def of(cls, parts: Parts, session_id: str) -> Resave:
        """The re-collection of a session that begins now."""
        old = await parts.outbox.queue.documents(parts.bank.id, session_id)
        return cls(parts, session_id, frozenset(old))

    @property
    def replaces(self) -> frozenset[str]:
        """Documents that do not count as what the bank knows."""
        return self._old - {item.document_id for item in self._new}

    def stored(self, cut: Cut, report: MemorizeReport) -> None:
        """A window is dealt with; only one that is in the bank has a successor."""
        # ``known`` with a document: it was written, and the bank held each of its facts.
        there = report.outcome in ("stored", "known") and report.stored
        if there and report.document_id is not None:
            self._new.append(Successor(report.document_id, cut.last_entry_id, cut.entry_ids))

    async def finish(self) -> tuple[str, ...]:
        """Delete the documents that have a successor; which."""
        parts, bank = self._parts, self._parts.bank
        if not self._new or parts.settings.review.mode == "before":
            return ()
        queue = parts.outbox.queue
        gone = await outlived(queue, bank.id, self._session_id, self._new, old=self.replaces)
        deleted = []
        for document in gone:
            try:
                await bank.delete_document(document)
            except BankError as error:
                logger.warning("document %s stays beside its successor: %s", document, error)
            else:
                deleted.append(document)
        await succeed(queue, bank.id, self._session_id, self._new, deleted=deleted)
        return tuple(deleted)
