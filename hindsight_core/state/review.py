"""The review queue: writes that a person may look at, of every project and session (pi/Q-01).

One row a document in queue.db: parallel sessions add and decide in transactions, a document that
is written again after a decision is pending again, and every decision can be taken back.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from hindsight_core.services import Clock, utc_now
from hindsight_core.state import review_rows as rows
from hindsight_core.state.codec import decode_document, encode_document

if TYPE_CHECKING:
    import sqlite3
    from datetime import datetime

    from hindsight_core.memory import Document
    from hindsight_core.state.queue import Queue

ReviewState = Literal["pending", "approved", "deleted"]
ReviewAction = Literal["approved", "deleted", "edited"]
ReviewBy = Literal["person", "expiry", "auto"]
_DAY_S = 86400.0


@dataclass(frozen=True, slots=True)
class Written:
    """A write as it is put before a person.

    Attributes:
        bank: Id of the bank.
        document_id: The document, once a bank.
        backend: The bank's backend.
        endpoint: Address of the bank's server; empty for a local one.
        project: Name of the project.
        language: The language in which it was written; a correction keeps to it (pi/Q-03).
        reason: Why it was memorized: ``compact``, ``manual`` ...
        session_id: The session it came from.
        host: The agent program.
        supersedes: Pairs (new fact id, old fact id), done or waiting for the approval.
        retire: Pairs (fact id, quote) that wait for the approval.
        held: Not recalled before it is approved (``review.mode = "before"``).
        document: The whole of it, for a bank that cannot hold what is not to be recalled.
    """

    bank: str
    document_id: str
    backend: str = "sqlite"
    endpoint: str = ""
    project: str = ""
    language: str = ""
    reason: str = ""
    session_id: str | None = None
    host: str | None = None
    supersedes: tuple[tuple[str, str], ...] = ()
    retire: tuple[tuple[str, str], ...] = ()
    held: bool = False
    document: Document | None = None


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """A row of the queue.

    Attributes:
        id: Its number, for commands.
        written: What was written.
        state: ``pending`` until somebody decided.
        created_at: When it was written, or written again (UTC).
        by: Who decided: a ``person``, ``expiry``, or ``auto`` (nothing is left to decide).
    """

    id: int
    written: Written
    state: ReviewState
    created_at: datetime
    by: ReviewBy | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """One decision that can be taken back.

    Attributes:
        item: The row as it is now.
        action: What was done.
        before: The document as it was; None where it was not changed.
    """

    item: ReviewItem
    action: ReviewAction
    before: Document | None = None


class ReviewQueue:
    """Everything that waits for a person.

    Args:
        queue: Its file holds the rows.
        clock: Aware UTC now.

    Raises:
        StorageError: From any method: the file cannot be read or written.
    """

    def __init__(self, queue: Queue, clock: Clock = utc_now) -> None:
        self._database = queue.database
        self._clock = clock

    async def add(self, written: Written, *, at: float | None = None) -> int:
        """Put a write before a person; one that was decided on before is pending again.

        Args:
            written: The write.
            at: When it was written, in seconds; now when None.
        """
        payload, now = _encode(written), self._now() if at is None else at
        return await self._database.write(
            lambda c: rows.put(
                c, written.bank, written.document_id, payload, held=written.held, now=now
            )
        )

    async def change(self, item: ReviewItem, written: Written) -> None:
        """Replace what a row says of its write, without a decision."""
        payload = _encode(written)
        await self._database.write(lambda c: rows.reword(c, item.id, payload, held=written.held))

    async def pending(
        self, *, bank: str | None = None, limit: int = 50, offset: int = 0
    ) -> list[ReviewItem]:
        """What waits, newest first; unreadable rows are set aside."""
        return await self._items(
            lambda c: rows.listed(c, bank=bank, limit=limit, offset=offset), limit
        )

    async def count(self, bank: str | None = None) -> int:
        """How many wait."""
        return await self._database.read(lambda c: rows.count(c, bank))

    async def get(self, ids: Sequence[int]) -> list[ReviewItem]:
        """Rows by number, in the order asked for; unknown ones are left out."""
        found = await self._items(lambda c: rows.by_id(c, ids), len(ids))
        known = {item.id: item for item in found}
        return [known[number] for number in dict.fromkeys(ids) if number in known]

    async def of_document(self, bank: str, document_id: str) -> ReviewItem | None:
        """The row of a document."""
        found = await self._items(lambda c: rows.by_document(c, bank, document_id), 1)
        return found[0] if found else None

    async def decide(
        self,
        decided: Sequence[ReviewItem],
        action: ReviewAction,
        *,
        by: ReviewBy = "person",
        before: Mapping[int, Document] | None = None,
    ) -> None:
        """Record one decision on several rows; `undone` takes them back together.

        Args:
            decided: The rows.
            action: ``edited`` leaves them pending (pi/Q-07).
            by: Only what a person decides can be taken back.
            before: The documents as they were, by row number.
        """
        held, now = before or {}, self._now()
        kept = {item.id: _encode_before(held.get(item.id)) for item in decided}

        def work(connection: sqlite3.Connection) -> None:
            rows.decide(connection, kept, action, by=by, now=now)

        if decided:
            await self._database.write(work)

    async def expire(self, days: float) -> int:
        """Approve what nobody looked at for so many days; how many (pi/Q-05).

        Nothing is asked of a bank, so that what is held back is not among them: see `expired`.
        """
        if days <= 0:
            return 0
        now = self._now()
        return await self._database.write(lambda c: rows.expire(c, now - days * _DAY_S, now=now))

    async def expired(self, days: float, *, limit: int = 50) -> list[ReviewItem]:
        """What is held back and has waited longer than that, oldest first."""
        if days <= 0:
            return []
        before = self._now() - days * _DAY_S
        return await self._items(lambda c: rows.expired(c, before, limit=limit), limit)

    async def last(self) -> list[Done]:
        """The newest decision of a person that was not taken back."""
        found = await self._database.read(rows.last_batch)
        items = {item.id: item for item in await self.get([number for number, _, _ in found])}
        return [
            Done(items[number], action, _decode_before(before))
            for number, action, before in found
            if number in items
        ]

    async def undone(self, items: Collection[ReviewItem]) -> None:
        """These decisions of the newest batch are taken back: the rows are pending again."""
        ids = [item.id for item in items]
        await self._database.write(lambda c: rows.undo(c, ids))

    async def waiting(self, bank: str, document_id: str) -> Document | None:
        """The document of a write that has not reached its bank yet."""
        found = await self._database.read(lambda c: rows.waiting(c, bank, document_id))
        return None if found is None else decode_document(found)

    async def withdraw(self, bank: str, document_id: str) -> bool:
        """Take a waiting write back; False when it is being delivered right now."""
        now = self._now()
        return await self._database.write(lambda c: rows.withdraw(c, bank, document_id, now=now))

    async def _items(self, query: rows.Query, limit: int) -> list[ReviewItem]:
        found = await self._database.read(query)
        items, broken = [], []
        for row in found[: max(0, limit)]:
            try:
                items.append(_item(row))
            except ValueError as error:
                broken.append((row, str(error)))
        if broken:
            now = self._now()
            await self._database.write(lambda c: rows.set_aside(c, broken, now=now))
        return items

    def _now(self) -> float:
        return self._clock().timestamp()


def _encode(written: Written) -> str:
    plain: dict[str, Any] = asdict(replace(written, document=None))
    held = None if written.document is None else encode_document(written.document)
    return json.dumps({"v": 1, **plain, "document": held}, separators=(",", ":"))


def _item(row: rows.Row) -> ReviewItem:
    try:
        record = json.loads(row.payload)
        if record.pop("v") != 1:
            raise ValueError("unknown version of a review record")
        document = record.pop("document")
        written = Written(
            **{
                **record,
                "supersedes": tuple((new, old) for new, old in record["supersedes"]),
                "retire": tuple((fact, quote) for fact, quote in record["retire"]),
            },
            document=None if document is None else decode_document(document),
        )
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"not a review record: {error!r}") from error
    return ReviewItem(row.id, written, row.state, row.moment, row.by)


def _encode_before(document: Document | None) -> str:
    return "" if document is None else encode_document(document)


def _decode_before(text: str) -> Document | None:
    return decode_document(text) if text else None
