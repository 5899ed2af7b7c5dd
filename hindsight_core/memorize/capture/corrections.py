"""Changes of a stored memory on somebody's word: a correction, an edit (am/A-CORR, A-TOOL)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hindsight_core.errors import BankError, ConfigError
from hindsight_core.memorize.capture.candidate import KINDS, SCOPES
from hindsight_core.memorize.lifecycle.memory import Memory
from hindsight_core.state.life import LifeRecord, Told

if TYPE_CHECKING:
    from hindsight_core.memorize.lifecycle.keeper import Keeper
    from hindsight_core.memorize.parts import Parts
    from hindsight_core.state.life import FactScope

CORRECTED = "correction_of_inaccurate_assistant_memory"
CHANGED = "the memory was changed while the correction was being prepared; look at it again"
STATES = ("valid", "invalidated")


@dataclass(frozen=True, slots=True)
class Edit:
    """New values of a memory's fields; None leaves one as it is.

    Attributes:
        text: One line.
        kind: ``user_profile``, ``fact`` or ``skill_workflow``.
        scope: ``global`` or ``project``.
        project: Id of the project, for that scope; the session's own by default.
        confidence: 0..1.
        priority: 0..1.
        state: ``valid`` or ``invalidated``.
        reason: Why it is invalidated.
    """

    text: str | None = None
    kind: str | None = None
    scope: str | None = None
    project: str | None = None
    confidence: float | None = None
    priority: float | None = None
    state: str | None = None
    reason: str | None = None


class Corrections:
    """Changes memories in place: their ids stay, and what they said before is kept.

    Args:
        parts: Settings and the session's place.
        keeper: Of the same bank.
        clean: Makes a text safe; blank when nothing is left of it.
    """

    def __init__(self, parts: Parts, keeper: Keeper, *, clean: Callable[[str], str]) -> None:
        self._parts = parts
        self._keeper = keeper
        self._clean = clean

    async def correct(self, fact_id: str, *, text: str, reason: str, session_id: str) -> Memory:
        """Correct what the assistant stored wrongly.

        Raises:
            ConfigError: No such active memory, one that rests on the user's words, no reason, or
                nothing that would be changed.
            BankError: It was changed meanwhile, or the bank failed.
        """
        seen = await self._keeper.memories([fact_id])
        memory = seen.get(fact_id)
        if memory is None:
            raise ConfigError(f"there is no active memory {fact_id}; memory_search shows ids")
        if memory.record.told.actor != "assistant":
            raise ConfigError(
                "this memory rests on the user's own words; only the user corrects it"
            )
        if not reason.strip():
            raise ConfigError("a correction needs a reason: what shows that the memory is wrong")
        line = self._text(text)
        if line == memory.fact.text:
            raise ConfigError("the corrected text is the one that is stored already")
        kept, limits = self._parts.sanitiser.text(reason)[:500], self._parts.settings.investigation
        told = Told(
            "assistant",
            session_id=session_id,
            cwd=self._parts.active.cwd,
            cause=CORRECTED,
            reason=kept,
            evidence=kept,
        )
        after = replace(
            _past(memory),
            told=told,
            confidence=min(memory.record.confidence, limits.maximum_confidence),
            priority=min(memory.record.priority, limits.priority),
        )
        done = await self._put(memory, after, text=line, kind=None)
        self._keeper.sink("memory.corrected", {"id": fact_id, "text": line, "why": kept})
        return done

    async def edit(self, fact_id: str, edit: Edit, *, session_id: str | None = None) -> Memory:
        """Change fields of a memory in any state, as its user wants it.

        Raises:
            ConfigError: No such memory, or a value that its field cannot have.
            BankError: It was changed meanwhile, or the bank failed.
        """
        found = await self._keeper.memories([fact_id], active_only=False)
        memory = found.get(fact_id)
        if memory is None:
            raise ConfigError(f"there is no memory {fact_id}; `facts list --state all` shows ids")
        text = None if edit.text is None else self._text(edit.text)
        text = None if text == memory.fact.text else text
        _check(edit)
        after = self._edited(_past(memory) if text else memory.record, edit)
        kind = edit.kind if edit.kind != memory.fact.kind else None
        done = await self._put(memory, after, text=text, kind=kind)
        self._keeper.sink("memory.edited", {"id": fact_id, "text": done.fact.text})
        if edit.state in (None, done.fact.state):
            return done
        if edit.state == "valid":
            return await self._keeper.restore(fact_id, session_id=session_id)
        reason = (edit.reason or "").strip() or "deleted by the user"
        return await self._keeper.retire(fact_id, reason=reason, session_id=session_id)

    def _edited(self, record: LifeRecord, edit: Edit) -> LifeRecord:
        scope: FactScope = "global" if (edit.scope or record.scope) == "global" else "project"
        project = edit.project or record.project or self._parts.active.project
        return replace(
            record,
            scope=scope,
            project=project if scope == "project" else "",
            confidence=record.confidence if edit.confidence is None else edit.confidence,
            priority=record.priority if edit.priority is None else edit.priority,
        )

    async def _put(
        self, memory: Memory, after: LifeRecord, *, text: str | None, kind: str | None
    ) -> Memory:
        """Write record and fact, if both are still as they were seen."""
        bank, fact = self._keeper.bank, memory.fact
        now = await bank.get_fact(fact.id)
        if now is None or (now.text, now.state, now.kind) != (fact.text, fact.state, fact.kind):
            raise BankError(CHANGED)
        after = replace(after, updated_at=self._parts.clock())
        stale = False

        def change(held: LifeRecord | None) -> LifeRecord | None:
            nonlocal stale
            stale = held is not None and not _same(held, memory.record)
            return None if stale else after

        await self._keeper.records.change(bank.id, [fact.id], lambda _: change)
        if stale:
            raise BankError(CHANGED)
        if text is not None:
            fact = await bank.edit_fact(fact.id, text=text)
        if kind is not None:
            fact = replace(fact, kind=kind)
            await bank.import_facts([fact])
        return Memory(fact, after)

    def _text(self, text: str) -> str:
        line = self._clean(text)
        if not line:
            raise ConfigError("a memory needs a text, and one without a private key")
        return line


def _past(memory: Memory) -> LifeRecord:
    """Its record, with what it said so far among what it said earlier."""
    record = memory.record
    told = replace(record.told, text=memory.fact.text)
    return replace(record, earlier=(*record.earlier, told))


def _same(one: LifeRecord, other: LifeRecord) -> bool:
    return replace(one, updated_at=other.updated_at) == other


def _check(edit: Edit) -> None:
    for name, value, allowed in (
        ("kind", edit.kind, KINDS),
        ("scope", edit.scope, SCOPES),
        ("state", edit.state, STATES),
    ):
        if value is not None and value not in allowed:
            raise ConfigError(f"{name} {value!r} is not known; use one of {', '.join(allowed)}")
    for name, number in (("confidence", edit.confidence), ("priority", edit.priority)):
        if number is not None and not 0 <= number <= 1:
            raise ConfigError(f"{name} must be a number from 0 to 1, not {number}")
