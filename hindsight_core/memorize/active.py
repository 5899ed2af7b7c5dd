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
    """The memories of one bank that earn their place.

    Ids are the bank's own, without the ``bank:`` prefix.

    Args:
        keeper: The lifecycle of its facts.
        project: Id of the project (am/A-REC-5).
        events: Is told what happens.
        writing: The write side; raises `MemoryOff` where nothing may be written.
    """

    def __init__(
        self,
        keeper: Keeper,
        *,
        project: str,
        events: EventSink,
        writing: Callable[[], ActiveWriting],
    ) -> None:
        self.project = project
        self.events = events
        self.bank = keeper.bank
        self._keeper = keeper
        self._writing = writing

    def listen(self, listener: Listener) -> None:
        """From now on tell this one what happens: names and fields of the activity log."""
        self.events.listen(listener)

    async def active(self, fact_ids: Iterable[str]) -> dict[str, Memory]:
        """Active memories by id."""
        return await self._keeper.memories(fact_ids)

    async def memory(self, fact_id: str) -> Memory | None:
        """One memory in any state."""
        return (await self._keeper.memories([fact_id], active_only=False)).get(fact_id)

    async def of_facts(self, facts: Iterable[Fact]) -> list[Memory]:
        """Memories of facts that are at hand, in any state, in their order."""
        return list((await self._keeper.of_facts(facts)).values())

    async def weigh(self, hits: Iterable[Hit]) -> list[Weighed]:
        """Hits of this project and global ones by score, priority and confidence (am/A-RANK)."""
        found = list(hits)
        memories = await self._keeper.of_facts(hit.fact for hit in found)
        here = [hit for hit in found if self.is_here(memories[hit.fact.id])]
        return ranked(here, {key: memory.record for key, memory in memories.items()})

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
        await self._keeper.reinforce(fact_ids, session_id=session_id)

    async def feedback(
        self, token: str, fact_id: str, *, outcome: Outcome, reason: str, session_id: str
    ) -> Judged:
        """Count an answer of the agent about a memory that it was shown.

        Raises:
            HindsightError: It could not be written; the token may be used again.
        """
        self._writing()  # raises where nothing may be written
        return await self._keeper.answer(
            token, fact_id, outcome=outcome, reason=reason, session_id=session_id
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
        return await self._writing().corrections.correct(
            fact_id, text=text, reason=reason, session_id=session_id
        )

    async def edit(self, fact_id: str, edit: Edit, *, session_id: str | None = None) -> Memory:
        """Change a memory as its user wants it; `ConfigError` names what cannot be."""
        return await self._writing().corrections.edit(fact_id, edit, session_id=session_id)

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
        return await self._keeper.retire(fact_id, reason=reason, session_id=session_id)

    async def restore(self, fact_id: str, *, session_id: str | None = None) -> Memory:
        """Bring a retired or replaced memory back; raises `BankError` for an unknown one."""
        self._writing()  # raises where nothing may be written
        return await self._keeper.restore(fact_id, session_id=session_id)

    async def forget(self, fact_ids: Iterable[str]) -> None:
        """Facts were deleted for good: what is recorded of them goes too."""
        await self._keeper.records.forget(self.bank.id, fact_ids)

    async def sweep(self, session_id: str | None = None) -> Swept:
        """Apply the days that have passed, retire what has fallen too low."""
        self._writing()  # raises where nothing may be written
        return await Sweep(self._keeper).run(session_id)

    def is_here(self, memory: Memory) -> bool:
        """Whether it is this project's, or holds everywhere."""
        record = memory.record
        return record.scope == "global" or record.project in ("", self.project)
