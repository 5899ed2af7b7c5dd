"""Active memory of one bank: what steers, tools and commands call."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from hindsight_core.memorize.lifecycle.memory import Judged, Memory, Swept
from hindsight_core.memorize.lifecycle.ranking import Weighed, ranked
from hindsight_core.memorize.lifecycle.sweep import Sweep

if TYPE_CHECKING:
    from hindsight_core.memorize.capture.asking import Work
    from hindsight_core.memorize.capture.candidate import Candidate
    from hindsight_core.memorize.capture.corrections import Edit
    from hindsight_core.memorize.capture.writer import Written
    from hindsight_core.memorize.capture.writing import ActiveWriting
    from hindsight_core.memorize.consolidate.consolidation import Proposal
    from hindsight_core.memorize.lifecycle.keeper import Keeper
    from hindsight_core.memorize.lifecycle.sink import EventSink, Listener
    from hindsight_core.memory import Fact, Hit
    from hindsight_core.state.feedback_tokens import Shown
    from hindsight_core.state.life import Outcome
    from hindsight_core.transcript.entry import Window

__all__ = ["ActiveMemory", "Judged", "Memory", "Swept", "Weighed"]


class ActiveMemory:
    """The memories of a project's bank, and of the person's own where there is one.

    Ids are the project's bank's own, without a prefix; those of the person's bank have theirs
    (``bank:id``).

    Args:
        keeper: The lifecycle of its facts.
        project: Id of the project (am/A-REC-5).
        events: Is told what happens.
        writing: The write side; raises `MemoryOff` where nothing may be written.
        personal: The same of the person's bank.
    """

    def __init__(
        self,
        keeper: Keeper,
        *,
        project: str,
        events: EventSink,
        writing: Callable[[], ActiveWriting],
        personal: ActiveMemory | None = None,
    ) -> None:
        self.project = project
        self.events = events
        self.bank = keeper.bank
        self._keeper = keeper
        self.personal = personal
        self._writing = writing

    def listen(self, listener: Listener) -> None:
        """From now on tell this one what happens: names and fields of the activity log."""
        self.events.listen(listener)

    async def active(self, fact_ids: Iterable[str]) -> dict[str, Memory]:
        """Active memories by the ids that were given."""
        found: dict[str, Memory] = {}
        for place, ids in self._places(fact_ids):
            held = await place._keeper.memories(ids)
            found |= {given: held[own] for own, given in ids.items() if own in held}
        return found

    async def memory(self, fact_id: str) -> Memory | None:
        """One memory in any state."""
        place, own = self._place(fact_id)
        return (await place._keeper.memories([own], active_only=False)).get(own)

    async def of_facts(self, facts: Iterable[Fact]) -> list[Memory]:
        """Memories of facts that are at hand, in any state, in their order."""
        return list((await self._keeper.of_facts(facts)).values())

    async def weigh(self, hits: Iterable[Hit]) -> list[Weighed]:
        """Hits of this project and global ones by score, priority and confidence (am/A-RANK)."""
        given, found = list(hits), list[Weighed]()
        for place in filter(None, (self, self.personal)):
            own = [hit for hit in given if hit.bank == place.bank.id]
            memories = await place._keeper.of_facts(hit.fact for hit in own)
            here = [hit for hit in own if self.is_here(memories[hit.fact.id])]
            found += ranked(here, {key: memory.record for key, memory in memories.items()})
        return sorted(found, key=lambda item: -item.score)

    async def shown(
        self, fact_ids: Iterable[str], *, session_id: str, token: str | None = None
    ) -> str:
        """The feedback token of memories that are shown together: this one, or a new one."""
        return await self._keeper.tokens.issue(self.bank.id, session_id, fact_ids, token=token)

    async def shown_before(self, session_id: str) -> list[Shown]:
        """What a session was shown before, oldest first: for a session that is resumed."""
        return await self._keeper.tokens.of_session(self.bank.id, session_id)

    async def delivered(self, fact_ids: Iterable[str], *, session_id: str) -> None:
        """They are before the model now: their clocks are set back (am/A-RECALL, step 8)."""
        for place, ids in self._places(fact_ids):
            await place._keeper.reinforce(ids, session_id=session_id)

    async def feedback(
        self, token: str, fact_id: str, *, outcome: Outcome, reason: str, session_id: str
    ) -> Judged:
        """Count an answer of the agent about a memory that it was shown.

        Raises:
            HindsightError: It could not be written; the token may be used again.
        """
        self._writing()  # raises where nothing may be written
        place, own = self._place(fact_id)
        return await place._keeper.answer(
            token,
            own,
            outcome=outcome,
            reason=reason,
            session_id=session_id,
            shown_as=fact_id,
        )

    async def store_result(self, candidate: Candidate, *, work: Work, window: Window) -> Written:
        """Store a finding that the agent names itself, once it is validated (am/A-ASST-4).

        Args:
            candidate: What is to be stored; its evidence is the text itself.
            work: The investigation that it comes from.
            window: Its entries.

        Raises:
            HindsightError: A model, the bank or the disk failed, or nothing may be written.
        """
        return await self._writing().capture.result(candidate, work=work, window=window)

    async def correct(self, fact_id: str, *, text: str, reason: str, session_id: str) -> Memory:
        """Correct what the assistant stored wrongly; its id stays (am/A-CORR).

        Raises:
            ConfigError: What the agent can mend: the id, the text, the reason, the authority.
            BankError: It was changed meanwhile, or the bank failed.
        """
        place, own = self._place(fact_id)
        return await place._writing().corrections.correct(
            own, text=text, reason=reason, session_id=session_id
        )

    async def edit(self, fact_id: str, edit: Edit, *, session_id: str | None = None) -> Memory:
        """Change a memory as its user wants it; `ConfigError` names what cannot be."""
        place, own = self._place(fact_id)
        return await place._writing().corrections.edit(own, edit, session_id=session_id)

    async def propose(self) -> list[Proposal]:
        """Pairs of memories that are alike, each with a sentence that may stand for both."""
        return await self._writing().consolidation.propose()

    async def combine(
        self, proposal: Proposal, *, text: str | None = None, session_id: str | None = None
    ) -> Memory:
        """Let the proposed sentence, or one of the user's, take the place of a pair.

        Raises:
            ConfigError: The sentence cannot stand for both.
            BankError: A memory was changed since it was shown, or the bank failed.
        """
        return await self._writing().consolidation.combine(
            proposal, text=text, session_id=session_id
        )

    async def delete(self, fact_id: str, *, reason: str, session_id: str | None = None) -> Memory:
        """Retire a memory, restorable; raises `BankError` for a pinned or unknown one."""
        self._writing()  # raises where nothing may be written
        place, own = self._place(fact_id)
        return await place._keeper.retire(own, reason=reason, session_id=session_id)

    async def restore(self, fact_id: str, *, session_id: str | None = None) -> Memory:
        """Bring a retired or replaced memory back; raises `BankError` for an unknown one."""
        self._writing()  # raises where nothing may be written
        place, own = self._place(fact_id)
        return await place._keeper.restore(own, session_id=session_id)

    async def forget(self, fact_ids: Iterable[str]) -> None:
        """Facts were deleted for good: what is recorded of them goes too."""
        await self._keeper.records.forget(self.bank.id, fact_ids)

    async def sweep(self, session_id: str | None = None) -> Swept:
        """Apply the days that have passed, retire what has fallen too low."""
        self._writing()  # raises where nothing may be written
        done = await Sweep(self._keeper).run(session_id)
        if self.personal is None:
            return done
        more = await self.personal.sweep(session_id)
        return Swept(done.initialized + more.initialized, (*done.expired, *more.expired))

    def _place(self, fact_id: str) -> tuple[ActiveMemory, str]:
        """Where a memory is, and its id there."""
        if self.personal is not None:
            own = fact_id.removeprefix(f"{self.personal.bank.id}:")
            if own != fact_id:
                return self.personal, own
        return self, fact_id

    def _places(self, fact_ids: Iterable[str]) -> list[tuple[ActiveMemory, dict[str, str]]]:
        """Memories by where they are: their ids there, and as they were given."""
        found: dict[str, tuple[ActiveMemory, dict[str, str]]] = {}
        for given in fact_ids:
            place, own = self._place(given)
            found.setdefault(place.bank.id, (place, {}))[1][own] = given
        return list(found.values())

    def is_here(self, memory: Memory) -> bool:
        """Whether it is this project's, or holds everywhere."""
        record = memory.record
        return record.scope == "global" or record.project in ("", self.project)
