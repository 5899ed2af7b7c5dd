"""The review of what was stored by itself: look, approve, correct, delete, take back.

Over all projects and sessions of the user (pi/Q-06, Q-07). A bank that does not answer decides
nothing: the entry stays, with the reason (pi/D-07).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hindsight_core.engine.review_banks import OtherServer, ReviewBanks
from hindsight_core.engine.review_steps import Steps
from hindsight_core.engine.review_text import editable
from hindsight_core.errors import BankError, ConfigError, MemoryOff
from hindsight_core.state.review import ReviewQueue

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from hindsight_core.memory import Document
    from hindsight_core.runtime import Runtime
    from hindsight_core.state.review import ReviewAction, ReviewBy, ReviewItem

LOOK_S = 5.0
DECIDE_S = 15.0


@dataclass(frozen=True, slots=True)
class Reviewed:
    """An entry with what its bank holds now.

    Attributes:
        item: The entry.
        document: The document; None when the bank could not be asked.
        unreachable: Why it could not; None when it could.
        text: What an editor shows, one fact a line; empty while a server still extracts.
    """

    item: ReviewItem
    document: Document | None = None
    unreachable: str | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class ReviewPage:
    """One page of entries, newest first; ``total`` counts all that wait."""

    items: tuple[Reviewed, ...]
    total: int


@dataclass(frozen=True, slots=True)
class ReviewReport:
    """What a decision came to.

    Attributes:
        done: Numbers of the entries that it was carried out for.
        kept: Number to reason, for those that stay as they were.
    """

    done: tuple[int, ...] = ()
    kept: Mapping[int, str] = field(default_factory=dict)


class Review:
    """The review queue with the banks behind it.

    Args:
        runtime: The reviewer's configuration.

    Raises:
        StorageError: From any method: the queue cannot be read or written.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._queue = ReviewQueue(runtime.queue, runtime.clock)
        self._banks = ReviewBanks(runtime)
        self._steps = Steps(runtime, self._queue, self._banks)

    async def count(self) -> int:
        """How many entries wait."""
        return await self._queue.count()

    async def list(
        self, *, bank: str | None = None, limit: int = 50, offset: int = 0
    ) -> ReviewPage:
        """What waits, newest first, each with its text.

        Entries whose time is over are approved first (``review.auto_approve_days``), and those
        whose document is gone leave the queue: nothing is left to decide.
        """
        await self.expire()
        items = await self._queue.pending(bank=bank, limit=limit, offset=offset)
        looked = await self._look(items)
        gone = [r.item for r in looked if r.document is None and r.unreachable is None]
        await self._queue.decide(gone, "approved", by="auto")
        left = tuple(r for r in looked if r.item not in gone)
        return ReviewPage(left, await self._queue.count(bank))

    async def show(self, number: int) -> Reviewed:
        """One entry, decided or not; raises `ConfigError` for an unknown number."""
        (item,) = await self._required([number])
        return (await self._look([item]))[0]

    async def approve(self, numbers: Sequence[int], *, by: ReviewBy = "person") -> ReviewReport:
        """Take entries out of the queue; what was held back is recalled from now on."""
        return await self._each(numbers, "approved", self._steps.approve, by=by)

    async def delete(self, numbers: Sequence[int]) -> ReviewReport:
        """Delete the documents of entries; what they replaced holds again."""
        return await self._each(numbers, "deleted", self._steps.delete)

    async def edit(self, number: int, text: str) -> Reviewed:
        """Store another text under the same document; it stays in the queue.

        Raises:
            ConfigError: Nothing is left of the text, or there is no such entry.
            BankError: The bank did not take it; nothing has changed.
        """
        (item,) = await self._required([number])
        self._writable()
        before = await self._steps.edit(item, text)
        await self._queue.decide([item], "edited", before={item.id: before})
        self._log("edited", [item])
        return await self.show(number)

    async def undo(self) -> ReviewReport:
        """Take the newest decision of a person back, all of it; nothing when there is none."""
        self._writable()
        done, kept = [], {}
        for decision in reversed(await self._queue.last()):
            reason = await self._carried_out(self._steps.undo(decision))
            if reason is None:
                done.append(decision.item)
            else:
                kept[decision.item.id] = reason
        await self._queue.undone(done)
        self._log("undone", done)
        return ReviewReport(tuple(item.id for item in done), kept)

    async def expire(self) -> int:
        """Approve what nobody looked at in time; how many.

        Only what is held back needs its bank for that: away, it waits on.
        """
        days = self._runtime.settings.review.auto_approve_days
        done = await self._queue.expire(days)
        held = await self._queue.expired(days)
        if held and not self._runtime.read_only:
            report = await self.approve([item.id for item in held], by="expiry")
            done += len(report.done)
        return done

    async def close(self) -> None:
        """Close the banks that only the review has opened."""
        await self._banks.close()

    async def _each(
        self,
        numbers: Sequence[int],
        action: ReviewAction,
        step: Callable[[ReviewItem], Awaitable[Document | None]],
        *,
        by: ReviewBy = "person",
    ) -> ReviewReport:
        self._writable()
        items = await self._required(numbers)
        done: list[ReviewItem] = []
        before: dict[int, Document] = {}
        kept: dict[int, str] = {}
        for item in items:
            if item.state != "pending":
                kept[item.id] = f"it is {item.state} already"
                continue

            async def carry(item: ReviewItem = item) -> None:
                document = await step(item)
                if document is not None:
                    before[item.id] = document

            reason = await self._carried_out(carry())
            if reason is None:
                done.append(item)
            else:
                kept[item.id] = reason
        await self._queue.decide(done, action, by=by, before=before)
        self._log(action, done)
        return ReviewReport(tuple(item.id for item in done), kept)

    async def _carried_out(self, step: Awaitable[object]) -> str | None:
        """Do it; why it could not be done, or None."""
        try:
            async with asyncio.timeout(DECIDE_S):
                await step
        except TimeoutError:
            return f"the bank did not answer within {DECIDE_S:g} s; nothing was changed"
        except BankError as error:
            return f"nothing was changed: {error}"
        return None

    async def _look(self, items: Sequence[ReviewItem]) -> Sequence[Reviewed]:
        """Entries with their documents; a bank that failed once is not asked again."""
        away: dict[str, str] = {}
        by_bank: dict[str, list[ReviewItem]] = {}
        for item in items:
            by_bank.setdefault(f"{item.written.endpoint} {item.written.bank}", []).append(item)
        found: dict[int, Reviewed] = {}

        async def one_bank(key: str, members: Sequence[ReviewItem]) -> None:
            for item in members:
                found[item.id] = await self._look_at(item, away, key)

        await asyncio.gather(*(one_bank(key, members) for key, members in by_bank.items()))
        return [found[item.id] for item in items]

    async def _look_at(self, item: ReviewItem, away: dict[str, str], key: str) -> Reviewed:
        if key in away:
            return Reviewed(item, unreachable=away[key])
        try:
            async with asyncio.timeout(LOOK_S):
                document = await self._steps.document(item)
        except TimeoutError:
            away[key] = f"the bank did not answer within {LOOK_S:g} s"
        except OtherServer as error:
            return Reviewed(item, unreachable=str(error))
        except BankError as error:
            away[key] = str(error)
        else:
            return Reviewed(item, document, text=editable(document) if document else "")
        return Reviewed(item, unreachable=away[key])

    async def _required(self, numbers: Sequence[int]) -> Sequence[ReviewItem]:
        items = await self._queue.get(numbers)
        missing = set(numbers) - {item.id for item in items}
        if missing:
            named = ", ".join(map(str, sorted(missing)))
            raise ConfigError(f"no entry {named} in the review queue; `review list` shows them")
        return items

    def _writable(self) -> None:
        if self._runtime.read_only:
            raise MemoryOff("bank.read_only is set: nothing is decided here")

    def _log(self, action: str, items: Sequence[ReviewItem]) -> None:
        for item in items:
            self._runtime.log.write(
                "review",
                action=action,
                bank=item.written.bank,
                document=item.written.document_id,
                session=item.written.session_id,
            )
