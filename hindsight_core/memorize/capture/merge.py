"""What becomes of a candidate beside the memories near it (am/A-MERGE, steps 2 to 8)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from hindsight_core.hookspecs import Resolution
from hindsight_core.identity import fact_id
from hindsight_core.memorize.resolve import compare

if TYPE_CHECKING:
    from hindsight_core.memorize.capture.asking import Asking
    from hindsight_core.memorize.capture.likeness import Likeness
    from hindsight_core.memorize.lifecycle.keeper import Keeper
    from hindsight_core.memorize.lifecycle.memory import Memory
    from hindsight_core.memory import Fact, Hit
    from hindsight_core.state.life import LifeRecord

Validate = Callable[[str], Awaitable[bool]]
NOOP = "a stored memory says it already"
THEIRS = "an assistant's finding never takes the place of what the user said"
NOT_VALID = "its new wording is not supported"
CONFLICT = "the memory was changed meanwhile"


@dataclass(slots=True)
class Merge:
    """Resolves one candidate; the hook's callable of one write.

    Attributes:
        fresh: The record that the candidate gets if it is new.
        threshold: Likeness from which a stored memory is shown to the model.
        validate: Checks another wording against the candidate's own source.
        clean: Makes a wording safe; blank when nothing is left.
        conflict: The target was changed between search and decision: decide anew.
        why: Why it is not stored.
        taken: The record that was written, where a memory was replaced.
    """

    keeper: Keeper
    asking: Asking
    likeness: Likeness
    fresh: LifeRecord
    threshold: float
    validate: Validate
    clean: Callable[[str], str]
    conflict: bool = False
    why: str | None = None
    taken: LifeRecord | None = field(default=None)

    async def __call__(
        self, candidates: Sequence[Fact], neighbours: Mapping[str, Sequence[Hit]]
    ) -> list[Resolution]:
        """One resolution for the one candidate."""
        [fact] = candidates
        near = await self._plausible(fact, neighbours.get(fact.id, ()))
        if not near:
            return [Resolution("add", fact)]
        if not self.asking.available:
            return await self._compared(fact, near)
        actor = self.fresh.told.actor
        answer = await self.asking.merge(fact.text, list(near.values()), actor=actor)
        text = self.clean(answer.text) if answer.text and answer.text.strip() else fact.text
        if answer.action == "noop":
            return self._skip(fact, NOOP)
        target = near.get(answer.target_id or "") if answer.action == "replace" else None
        if answer.action == "replace" and target is not None and not self._may(target):
            return self._skip(fact, THEIRS)
        if not text or (text != fact.text and not await self.validate(text)):
            return self._skip(fact, NOT_VALID)
        worded = replace(fact, text=text, id=fact_id(text))
        if target is None or target.fact.pinned:
            return [Resolution("add", worded)]
        return await self._replace(worded, target)

    async def _plausible(self, fact: Fact, hits: Sequence[Hit]) -> dict[str, Memory]:
        """Active memories of the same scope that are near enough, nearest first."""
        memories = [
            memory
            for memory in (await self.keeper.of_facts(hit.fact for hit in hits)).values()
            if memory.is_active and self._same_place(memory.record)
        ]
        texts = [memory.fact.text for memory in memories]
        scores, factor = await self.likeness.to(fact.text, texts)
        ranked = sorted(zip(scores, memories, strict=True), key=lambda pair: -pair[0])
        shown = {memory.fact.id: round(score, 4) for score, memory in ranked}
        self.keeper.sink("capture.neighbors", {"scores": shown})
        least = self.threshold * factor
        return {memory.fact.id: memory for score, memory in ranked if score >= least}

    async def _compared(self, fact: Fact, near: Mapping[str, Memory]) -> list[Resolution]:
        """Without a model: the same statement is known, another value of it replaces."""
        from hindsight_core.memory import Hit

        hits = [Hit(memory.fact, self.keeper.bank.id, 1.0) for memory in near.values()]
        first = compare([fact], {fact.id: hits})[0]
        target = near.get(first.target or "")
        if first.action == "add" or target is None:
            return [Resolution("add", fact)]
        if first.action == "skip":
            return self._skip(fact, NOOP)
        return await self._replace(fact, target) if self._may(target) else self._skip(fact, THEIRS)

    async def _replace(self, fact: Fact, target: Memory) -> list[Resolution]:
        """Take the place of a memory that is still as it was found; nobody else can then."""
        if fact.id == target.fact.id:
            return self._skip(fact, NOOP)
        now = await self.keeper.bank.get_fact(target.fact.id)
        record = self._succeeding(target)
        if now is None or (now.state, now.text, now.kind) != (
            "valid",
            target.fact.text,
            target.fact.kind,
        ):
            return self._changed(fact)
        seen = {target.fact.id: target.record}
        if not await self.keeper.records.succeed(
            self.keeper.bank.id, fact.id, record=record, seen=seen
        ):
            return self._changed(fact)
        self.taken = record
        return [Resolution("replace", fact, target.fact.id)]

    def _succeeding(self, target: Memory) -> LifeRecord:
        """What the memory earned stays, whoever words it now (step 7)."""
        old, new = target.record, self.fresh
        return replace(
            old,
            told=new.told,
            earlier=(*old.earlier, replace(old.told, text=target.fact.text)),
            priority=old.priority if old.told.actor == new.told.actor else new.priority,
            supersedes=(*old.supersedes, target.fact.id),
            updated_at=new.updated_at,
        )

    def _may(self, target: Memory) -> bool:
        return not (self.fresh.told.actor == "assistant" and target.record.told.actor == "user")

    def _same_place(self, record: LifeRecord) -> bool:
        if record.scope != self.fresh.scope:
            return False
        return record.scope == "global" or record.project in ("", self.fresh.project)

    def _skip(self, fact: Fact, why: str) -> list[Resolution]:
        self.why = why
        return [Resolution("skip", fact, reason=why)]

    def _changed(self, fact: Fact) -> list[Resolution]:
        self.conflict = True
        return self._skip(fact, CONFLICT)
