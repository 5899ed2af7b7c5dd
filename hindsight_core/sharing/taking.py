"""Facts of files on their way into the bank: gathered, imported in portions, noted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hindsight_core.errors import BankError
from hindsight_core.sharing.accept import taken

if TYPE_CHECKING:
    from hindsight_core.banks.base import Bank
    from hindsight_core.memory import Fact
    from hindsight_core.sharing.fact_file import FactFile
    from hindsight_core.sharing.shareable import Shareable

BATCH = 500


@dataclass
class Taking:
    """Takes forms over.

    Attributes:
        bank: Where they go.
        shareable: Cleans them, and says how the bank's form of one looks.
        note: Told of each form that is in the bank, with the bank's own form of it.
        forget: Told the id of a fact that is deleted for good.
    """

    bank: Bank
    shareable: Shareable
    note: Callable[[FactFile, FactFile | None], None]
    forget: Callable[[str], Awaitable[None]] | None = None
    _waiting: list[tuple[FactFile, Fact]] = field(default_factory=list)

    async def add(self, form: FactFile, held: Fact | None) -> None:
        """Take a form over, at the latest with the next `flush`.

        Args:
            form: What the file tells.
            held: The fact as the bank has it.

        Raises:
            BankError: The fact is pinned and must not be retired; or the bank failed.
        """
        if form.state != "valid":
            _check_pin(held)
        self._waiting.append((form, self.shareable.clean(taken(form, held))))
        if len(self._waiting) >= BATCH:
            await self.flush()

    async def erase(self, fact_id: str) -> None:
        """Delete a fact for good, as it was elsewhere; raises `BankError` for a pinned one."""
        _check_pin(await self.bank.get_fact(fact_id))
        await self.bank.delete_fact(fact_id)
        if self.forget is not None:
            await self.forget(fact_id)

    async def flush(self) -> None:
        """Import what waits; raises `BankError`, and then it waits no more."""
        ready, self._waiting = self._waiting, []
        if not ready:
            return
        await self.bank.import_facts([fact for _, fact in ready])
        for form, fact in ready:
            self.note(form, await self._in_bank(fact))

    async def _in_bank(self, fact: Fact) -> FactFile | None:
        # A bank that finds facts by itself may keep less of one than it was given.
        held = await self.bank.get_fact(fact.id) if self.bank.capabilities.extracts else fact
        return None if held is None else self.shareable.form(held, clean=held is not fact)


def _check_pin(held: Fact | None) -> None:
    if held is not None and held.pinned:
        raise BankError(f"fact {held.id} is pinned here and stays valid", retryable=False)
