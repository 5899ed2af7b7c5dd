"""What each decision of a review does in a bank, and how it is taken back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hindsight_core.engine.review_text import edited
from hindsight_core.errors import BankError, ConfigError
from hindsight_core.memorize.context import retain_context, retain_metadata

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hindsight_core.banks.base import Bank
    from hindsight_core.engine.review_banks import ReviewBanks
    from hindsight_core.memory import Document, Fact
    from hindsight_core.runtime import Runtime
    from hindsight_core.state.review import Done, ReviewItem, ReviewQueue

_BUSY = "it is being delivered to its bank right now; try again"


class Steps:
    """The steps; every one raises `BankError` and changes nothing when its bank is away.

    Args:
        runtime: The reviewer's configuration.
        queue: The entries, and writes that have not reached their bank yet.
        banks: Opens the bank of an entry.
    """

    def __init__(self, runtime: Runtime, queue: ReviewQueue, banks: ReviewBanks) -> None:
        self._runtime = runtime
        self._queue = queue
        self._banks = banks

    async def document(self, item: ReviewItem) -> Document | None:
        """What an entry is about, wherever it is now; None when it is nowhere any more."""
        written = item.written
        if written.document is not None and item.state == "pending":
            return written.document
        waiting = await self._queue.waiting(written.bank, written.document_id)
        return waiting or await self._banks.of(item).get_document(written.document_id)

    async def approve(self, item: ReviewItem) -> None:
        """Nothing for what is recalled already; what was held back takes effect now."""
        written = item.written
        if not written.held:
            return
        bank = self._banks.of(item)
        if written.document is not None:
            await self._store(bank, written.document)
        else:
            document = await self.document(item)
            for fact in _in_state(document, "pending"):
                await bank.set_state(fact.id, "valid")
            await self._supersede(bank, written.supersedes)
        for fact_id, quote in written.retire:
            held = await bank.get_fact(fact_id)
            if held is not None and held.state == "valid" and not held.pinned:
                await bank.set_state(fact_id, "invalidated", reason=quote)

    async def delete(self, item: ReviewItem) -> Document | None:
        """Delete the document; what it was, so that it can be brought back."""
        written = item.written
        if written.document is not None:
            return written.document
        waiting = await self._queue.waiting(written.bank, written.document_id)
        if waiting is not None and not await self._queue.withdraw(
            written.bank, written.document_id
        ):
            raise BankError(_BUSY, retryable=True)
        bank = self._banks.of(item)
        document = await bank.get_document(written.document_id)
        if document is not None:
            await bank.delete_document(written.document_id)
            await self._revive(bank, written.supersedes)
        return document or waiting

    async def edit(self, item: ReviewItem, text: str) -> Document:
        """Store another text under the same id; the document as it was."""
        before = await self.document(item)
        if before is None:
            raise ConfigError(f"document {item.written.document_id} is gone; there is no text")
        changed = edited(
            before, text, settings=self._runtime.settings, sanitiser=self._runtime.sanitiser
        )
        if changed is None:
            raise ConfigError("nothing is left of the text; use `review delete` to delete it")
        changed = self._framed(item, changed)
        if item.written.document is not None:
            await self._queue.change(item, replace(item.written, document=changed))
        else:
            await self._store(self._banks.of(item), changed)
        return before

    async def undo(self, done: Done) -> None:
        """Bring back what a decision changed."""
        item, written = done.item, done.item.written
        if done.action == "approved" and not written.held:
            return
        if written.document is not None:
            await self._undo_away(done)
            return
        bank = self._banks.of(item)
        if done.action == "approved":
            for fact in _in_state(await bank.get_document(written.document_id), "valid"):
                await bank.set_state(fact.id, "pending")
            await self._revive(bank, written.supersedes)
        elif done.before is not None:
            pairs = () if written.held else written.supersedes
            explicit = not any(f.state == "pending" for f in done.before.facts or ())
            await self._store(bank, replace(done.before, explicit=explicit, supersedes=pairs))
            await self._supersede(bank, pairs)

    async def _undo_away(self, done: Done) -> None:
        """Of a document that waits here for its approval."""
        item = done.item
        if done.action == "approved":
            await self._banks.of(item).delete_document(item.written.document_id)
        elif done.action == "edited" and done.before is not None:
            await self._queue.change(item, replace(item.written, document=done.before))

    async def _store(self, bank: Bank, document: Document) -> None:
        """Through the queue, so that it is durable; raises when the bank refuses it for good."""
        receipt = await self._runtime.outbox.store(bank, document, again=True)
        if receipt.outcome == "failed":
            raise BankError(receipt.reason or "the bank refused it", retryable=False)

    async def _supersede(self, bank: Bank, pairs: Iterable[tuple[str, str]]) -> None:
        for new, old in pairs:
            held = await bank.get_fact(old)
            if held is not None and held.state == "valid" and not held.pinned and new != old:
                await bank.set_state(old, "superseded", superseded_by=new)

    async def _revive(self, bank: Bank, pairs: Iterable[tuple[str, str]]) -> None:
        """What was replaced holds again, unless something else has replaced it since."""
        for new, old in pairs:
            held = await bank.get_fact(old)
            if held is not None and held.state == "superseded" and held.superseded_by == new:
                await bank.set_state(old, "valid")

    def _framed(self, item: ReviewItem, document: Document) -> Document:
        """As the words of the person who corrected them (pi/Q-07, pi/W-01)."""
        written, runtime = item.written, self._runtime
        language = written.language or runtime.settings.memorize.language
        project = written.project or written.bank
        return replace(
            document,
            context=retain_context(
                runtime.prompts, project=project, source="user-edit", language=language
            ),
            metadata={
                **document.metadata,
                **retain_metadata(
                    source="user-edit",
                    project=project,
                    language=language,
                    session_id=written.session_id,
                    host=written.host,
                ),
            },
        )


def _in_state(document: Document | None, state: str) -> list[Fact]:
    return [fact for fact in (document.facts if document else None) or () if fact.state == state]
