"""Keeps bank and records together: feedback, reinforcement, soft deletion, restoring."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from hindsight_core.memorize.lifecycle import decay
from hindsight_core.memorize.lifecycle.decay import Moment
from hindsight_core.memorize.lifecycle.feedback import answered
from hindsight_core.memorize.lifecycle.memory import REASONS, Judged, Memory
from hindsight_core.memorize.lifecycle.origin import found_record
from hindsight_core.state.life import Answer, LifeRecord

if TYPE_CHECKING:
    from hindsight_core.banks.base import Bank
    from hindsight_core.config.settings import Settings
    from hindsight_core.memory import Fact
    from hindsight_core.services import Clock
    from hindsight_core.state.feedback_tokens import FeedbackTokens
    from hindsight_core.state.life import ExpiredBy, Outcome
    from hindsight_core.state.lives import LifeRecords
    from hindsight_core.state.sessions import SessionState

Sink = Callable[[str, Mapping[str, object]], None]


class Keeper:
    """The lifecycle of one bank's facts.

    Args:
        bank: Holds text, kind, state and pin.
        records: Holds the rest.
        tokens: What was shown.
        settings: ``lifecycle`` and ``investigation``.
        clock: Aware UTC now.
        sink: Is told what happens, by the names of the activity log.
    """

    def __init__(
        self,
        *,
        bank: Bank,
        records: LifeRecords,
        tokens: FeedbackTokens,
        settings: Settings,
        clock: Clock,
        sink: Sink,
    ) -> None:
        self.bank = bank
        self.records = records
        self.tokens = tokens
        self.settings = settings
        self.rules = settings.lifecycle
        self._clock = clock
        self.sink = sink

    @classmethod
    def of(
        cls,
        bank: Bank,
        sessions: SessionState,
        *,
        settings: Settings,
        clock: Clock,
        sink: Sink,
    ) -> Keeper:
        """The keeper of a bank, with its records in the file of the sessions."""
        from hindsight_core.state.feedback_tokens import FeedbackTokens
        from hindsight_core.state.lives import LifeRecords

        return cls(
            bank=bank,
            records=LifeRecords(sessions.database, clock),
            tokens=FeedbackTokens(sessions.database, clock),
            settings=settings,
            clock=clock,
            sink=sink,
        )

    async def moment(self, session_id: str | None = None) -> Moment:
        """Now, in a session and with its number."""
        if session_id is None:
            return Moment(self._clock())
        number = await self.records.session_number(self.bank.id, session_id)
        return Moment(self._clock(), session_id, number)

    async def memories(
        self, fact_ids: Iterable[str], *, active_only: bool = True
    ) -> dict[str, Memory]:
        """Facts with their records, by id; one that is not there is left out."""
        found: dict[str, Fact] = {}
        for fact_id in dict.fromkeys(fact_ids):
            fact = await self.bank.get_fact(fact_id)
            if fact is not None and (fact.state == "valid" or not active_only):
                found[fact_id] = fact
        return await self.of_facts(found.values())

    async def of_facts(self, facts: Iterable[Fact]) -> dict[str, Memory]:
        """Memories of facts that are at hand; nothing is written."""
        held = {fact.id: fact for fact in facts}
        records = await self.records.get(self.bank.id, held)
        now = Moment(self._clock())
        return {
            key: Memory(fact, records.get(key) or found_record(fact, self.settings, now))
            for key, fact in held.items()
        }

    async def reinforce(
        self, fact_ids: Iterable[str], *, session_id: str | None, cause: str = "relevant_recall"
    ) -> None:
        """They proved relevant: their clocks are set back; retired ones are left alone."""
        memories = await self.memories(fact_ids)
        moment = await self.moment(session_id)

        def change(fact_id: str) -> Callable[[LifeRecord | None], LifeRecord | None]:
            def apply(record: LifeRecord | None) -> LifeRecord | None:
                before = record or memories[fact_id].record
                return decay.reinforced(before, moment, cause=cause)  # type: ignore[arg-type]

            return apply

        await self.records.change(self.bank.id, memories, change)
        self.sink("memory.reinforced", {"ids": list(memories), "reason": cause})

    async def answer(
        self,
        token: str,
        fact_id: str,
        *,
        outcome: Outcome,
        reason: str,
        session_id: str,
        shown_as: str | None = None,
    ) -> Judged:
        """Count what the agent says about a memory that it was shown (am/A-FB-4).

        Args:
            token: As it was shown.
            fact_id: Which.
            outcome: ``useful`` or ``unhelpful``.
            reason: In the agent's words.
            session_id: Who answers.
            shown_as: The id under which it was shown, where that is another one.

        Raises:
            HindsightError: It could not be written; the token may be used again.
        """
        shown = shown_as or fact_id
        redeemed = await self.tokens.redeem(
            token,
            shown,
            outcome=outcome,
            session_id=session_id,
            limit=self.rules.max_feedback_per_session,
        )
        if redeemed != "accepted":
            return Judged(accepted=False, reason=redeemed)
        try:
            judged = await self._judge(token, fact_id, outcome, reason, session_id)
        except BaseException:
            await self.tokens.release(token, shown)
            raise
        if not judged.accepted:
            await self.tokens.release(token, shown)
        return judged

    async def _judge(
        self, token: str, shown_id: str, outcome: Outcome, reason: str, session_id: str
    ) -> Judged:
        memory = await self._now_standing(shown_id)
        if memory is None:
            return Judged(accepted=False, reason="inactive")
        moment = await self.moment(session_id)
        given = Answer(outcome, session_id, token, reason, moment.at)
        fact = memory.fact

        def change(record: LifeRecord | None) -> LifeRecord:
            before = record or memory.record
            return answered(before, given, self.rules, moment, pinned=fact.pinned)

        after = (await self.records.change(self.bank.id, [fact.id], lambda _: change))[fact.id]
        if after.succeeded_by:  # its place is being taken at this very moment
            await self.records.change(self.bank.id, [after.succeeded_by], lambda _: change)
        retired = after.expired_at is not None
        if retired and after.expired_by is not None:
            fact = await self.bank.set_state(
                fact.id, "invalidated", reason=REASONS[after.expired_by]
            )
        self.sink(
            "feedback.recorded",
            {"id": fact.id, "outcome": outcome, "why": reason, "confidence": after.confidence},
        )
        return Judged(accepted=True, memory=Memory(fact, after), retired=retired)

    async def _now_standing(self, fact_id: str) -> Memory | None:
        """The memory, or the one that took its place since it was shown."""
        seen: set[str] = set()
        while fact_id not in seen:
            seen.add(fact_id)
            memory = (await self.memories([fact_id], active_only=False)).get(fact_id)
            if memory is None or memory.is_active:
                return memory
            fact_id = memory.record.succeeded_by or fact_id
        return None

    async def retire(
        self, fact_id: str, *, reason: str, by: ExpiredBy = "person", session_id: str | None = None
    ) -> Memory:
        """Soft deletion with its reason; a pinned fact is refused by the bank (`BankError`)."""
        fact = await self.bank.set_state(fact_id, "invalidated", reason=reason)
        moment = await self.moment(session_id)
        record = await self.changed(fact, lambda r: decay.retired(r, moment, by=by))
        self.sink("memory.deleted", {"id": fact.id, "why": reason})
        return Memory(fact, record)

    async def restore(self, fact_id: str, *, session_id: str | None = None) -> Memory:
        """Valid again, with the confidence of a new one at least."""
        fact = await self.bank.set_state(fact_id, "valid")
        moment = await self.moment(session_id)
        rules = self.rules
        record = await self.changed(fact, lambda r: decay.restored(r, rules, moment))
        self.sink("memory.restored", {"id": fact.id})
        return Memory(fact, record)

    async def changed(self, fact: Fact, change: Callable[[LifeRecord], LifeRecord]) -> LifeRecord:
        """Change a fact's newest record; one that has none is given what the bank knows."""
        now = Moment(self._clock())

        def apply(record: LifeRecord | None) -> LifeRecord:
            return change(record or found_record(fact, self.settings, now))

        return (await self.records.change(self.bank.id, [fact.id], lambda _: apply))[fact.id]
