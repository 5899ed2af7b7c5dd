"""The daily sweep: the days that have passed are applied to every active fact (am/A-LIFE-6)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from hindsight_core.errors import BankError
from hindsight_core.memorize.lifecycle import decay
from hindsight_core.memorize.lifecycle.memory import REASONS, Memory, Swept
from hindsight_core.memorize.lifecycle.origin import found_record

if TYPE_CHECKING:
    from hindsight_core.memorize.lifecycle.decay import Moment
    from hindsight_core.memorize.lifecycle.keeper import Keeper
    from hindsight_core.memory import Fact
    from hindsight_core.state.life import LifeRecord

logger = logging.getLogger("hindsight_core.memorize")
MOST = 10_000
AT_ONCE = 500


class Sweep:
    """Goes over the facts of a bank, at most 10 000.

    Args:
        keeper: Of that bank.
    """

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper
        self._rules = keeper.rules

    async def run(self, session_id: str | None = None) -> Swept:
        """Apply the days that have passed to every active fact (am/A-LIFE-6)."""
        if not self._rules.enabled:
            return Swept()
        moment = await self._keeper.moment(session_id)
        page = await self._keeper.bank.list_facts(state="valid", limit=MOST)
        facts = {fact.id: fact for fact in page.facts}
        due: list[str] = []
        back: list[str] = []
        begun = 0

        def change(fact_id: str) -> Callable[[LifeRecord | None], LifeRecord | None]:
            def apply(record: LifeRecord | None) -> LifeRecord | None:
                nonlocal begun
                if record is None or record.decayed_on is None:
                    begun += 1
                    before = record or found_record(facts[fact_id], self._keeper.settings, moment)
                    return decay.graced(before, self._rules, moment)
                if record.expired_at is not None or record.succeeded_by is not None:
                    back.append(fact_id)
                    return None
                after = decay.advanced(record, self._rules, moment, pinned=facts[fact_id].pinned)
                if after.expired_at is None:
                    return after
                due.append(fact_id)
                return None

            return apply

        ids = list(facts)
        for start in range(0, len(ids), AT_ONCE):  # others write in between
            part = ids[start : start + AT_ONCE]
            await self._keeper.records.change(self._keeper.bank.id, part, change)
        await self._spare_pending(moment)
        for fact_id in back:
            await self._was_restored(fact_id, moment)
        expired = [found for i in due if (found := await self._expire(facts[i], moment))]
        if begun:
            self._keeper.sink("lifecycle.migrated", {"initialized": begun})
        return Swept(begun, tuple(expired))

    async def _spare_pending(self, moment: Moment) -> None:
        """What waits for a person's approval cannot be of use yet: its clock stands."""
        if self._keeper.settings.review.mode != "before":
            return
        page = await self._keeper.bank.list_facts(state="pending", limit=MOST)

        def stand(record: LifeRecord | None) -> LifeRecord | None:
            return record and replace(record, decayed_on=moment.day)

        ids = [fact.id for fact in page.facts]
        await self._keeper.records.change(self._keeper.bank.id, ids, lambda _: stand)

    async def _expire(self, fact: Fact, moment: Moment) -> Memory | None:
        """First the bank, then the record: a crash in between leaves no retired fact valid."""
        record = (await self._keeper.records.get(self._keeper.bank.id, [fact.id])).get(fact.id)
        if record is None:
            return None
        by = decay.advanced(record, self._rules, moment).expired_by
        if by is None:
            return None
        try:
            gone = await self._keeper.bank.set_state(fact.id, "invalidated", reason=REASONS[by])
        except BankError as error:
            logger.info("a fact could not be retired: %s", error)
            return None
        after = await self._keeper.changed(gone, lambda r: decay.advanced(r, self._rules, moment))
        if after.expired_at is None:  # it proved useful at this very moment
            await self._keeper.bank.set_state(fact.id, "valid")
            return None
        self._keeper.sink("memory.expired", {"id": fact.id, "reason": by, "text": fact.text})
        return Memory(gone, after)

    async def _was_restored(self, fact_id: str, moment: Moment) -> None:
        """The bank says that it is valid, the record does not: somebody else brought it back."""
        fact = await self._keeper.bank.get_fact(fact_id)
        if fact is not None and fact.state == "valid":
            await self._keeper.changed(fact, lambda r: decay.restored(r, self._rules, moment))
