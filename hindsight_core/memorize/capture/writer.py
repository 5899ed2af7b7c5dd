"""The way of an accepted candidate into the bank and the side table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hindsight_core.errors import BankError
from hindsight_core.identity import fact_id, note_id
from hindsight_core.memorize.capture.asking import Asking
from hindsight_core.memorize.capture.likeness import Likeness
from hindsight_core.memorize.capture.merge import Merge
from hindsight_core.memorize.context import PERSONAL
from hindsight_core.memorize.lifecycle import decay
from hindsight_core.memorize.lifecycle.memory import Memory, is_lapsed
from hindsight_core.memorize.lifecycle.origin import PROJECT, SCOPE
from hindsight_core.memorize.run import Run, current, running
from hindsight_core.memorize.target import Target
from hindsight_core.memory import Fact, Provenance
from hindsight_core.state.life import LifeRecord

if TYPE_CHECKING:
    from datetime import datetime

    from hindsight_core.memorize.capture.candidate import Candidate
    from hindsight_core.memorize.capture.merge import Validate
    from hindsight_core.memorize.lifecycle.keeper import Keeper
    from hindsight_core.memorize.parts import Parts
    from hindsight_core.memorize.report import MemorizeReport
    from hindsight_core.memorize.store import Store
    from hindsight_core.state.life import Told
    from hindsight_core.transcript.entry import Window

SOURCE = "memory"
TAG = "active-memory"
TRIES = 3
UNSAFE = "nothing of it may be stored: it is blank or holds a private key"
_KEY = "PRIVATE KEY"


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a candidate.

    Attributes:
        memory: The memory, when it is stored or queued.
        created: It is a new one; False where it took another's place or came back.
        outcome: As `MemorizeReport.outcome`.
        reason: Why it is not stored.
    """

    memory: Memory | None = None
    created: bool = False
    outcome: str = "stored"
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """An accepted candidate and where it comes from.

    Attributes:
        candidate: What is to be stored.
        told: Where it comes from, as it is kept.
        window: The entries that it was found in.
        threshold: Likeness from which stored memories count as near.
        validate: Checks another wording of it.
        said_at: When it was said.
    """

    candidate: Candidate
    told: Told
    window: Window
    threshold: float
    validate: Validate
    said_at: datetime | None = None


class Writer:
    """Resolves, stores, and keeps the record.

    Args:
        parts: Bank, outbox, hooks and what else a run works with.
        store: Resolves and writes documents.
        keeper: Of the same bank.
    """

    def __init__(self, parts: Parts, store: Store, keeper: Keeper) -> None:
        self._parts = parts
        self._store = store
        self._keeper = keeper
        self._asking = Asking(parts.stages)
        self._likeness = Likeness(parts.active.embedder)

    async def write(self, draft: Draft) -> Written:
        """Store a candidate, unless the bank holds it.

        Raises:
            BankError: Other sessions changed the same memory three times in a row.
            HindsightError: A model, the bank or the disk failed.
        """
        text = self.clean(draft.candidate.text)
        if not text:
            return Written(outcome="skipped", reason=UNSAFE)
        if (back := await self._came_back(text, draft)) is not None:
            return back
        moment = await self._keeper.moment(draft.window.session_id)
        fresh = decay.begun(self._record(draft), self._parts.settings.lifecycle, moment)
        for _ in range(TRIES):
            merge = Merge(
                keeper=self._keeper,
                asking=self._asking,
                likeness=self._likeness,
                fresh=fresh,
                threshold=draft.threshold,
                validate=draft.validate,
                clean=self.clean,
            )
            report = await self._stored(text, draft, merge)
            if not merge.conflict:
                return await self._done(report, merge, fresh)
            self._keeper.sink("capture.conflict", {"text": text})
        raise BankError(f"other sessions keep changing the memory that this one is about: {text}")

    def clean(self, text: str) -> str:
        """One safe line; blank when nothing may be stored."""
        parts = self._parts
        if _KEY in text:
            return ""
        line = parts.sanitiser.fact_text(text, limit=parts.fact_limit)
        return line if any(letter.isalnum() for letter in line) else ""

    async def _came_back(self, text: str, draft: Draft) -> Written | None:
        """The same sentence, lapsed: said again it starts anew."""
        fact = await self._keeper.bank.get_fact(fact_id(text))
        if fact is None or not is_lapsed(fact):
            return None
        memory = await self._keeper.restore(fact.id, session_id=draft.window.session_id)
        return Written(memory, created=False)

    async def _stored(self, text: str, draft: Draft, merge: Merge) -> MemorizeReport:
        fact = self._fact(text, draft)
        outer = current()
        with running(Run(ask=False, merge=merge)) as run:
            facts = await self._parts.hooks.filter_facts(draft.window, [fact])
            kept = [replace(item, id=fact_id(item.text)) for item in facts][:1]
            if not kept:
                from hindsight_core.memorize.report import MemorizeReport

                return MemorizeReport("empty", reason="a filter dropped it")
            report = await self._store.store(kept, self._target(kept[0], draft))
        outer.calls += run.calls
        return report

    async def _done(self, report: MemorizeReport, merge: Merge, fresh: LifeRecord) -> Written:
        if report.outcome not in ("stored", "queued") or not report.stored:
            return Written(outcome=report.outcome, reason=merge.why or report.reason)
        fact, created = report.stored[0], merge.taken is None
        record = merge.taken or fresh
        if created:
            changed = await self._keeper.records.change(
                self._keeper.bank.id, [fact.id], lambda _: lambda held: held or fresh
            )
            record = changed[fact.id]
        self._keeper.sink(
            "capture.stored",
            {
                "id": fact.id,
                "text": fact.text,
                "kind": fact.kind,
                "scope": record.scope,
                "actor": record.told.actor,
                "created": created,
            },
        )
        return Written(Memory(fact, record), created=created, outcome=report.outcome)

    def _record(self, draft: Draft) -> LifeRecord:
        is_project = draft.candidate.scope == "project"
        by_user = draft.told.actor == "user"
        return LifeRecord(
            draft.told,
            scope=draft.candidate.scope,
            project=self._parts.active.project if is_project else "",
            priority=1.0 if by_user else self._parts.settings.investigation.priority,
        )

    def _fact(self, text: str, draft: Draft) -> Fact:
        window, candidate = draft.window, draft.candidate
        metadata: dict[str, str] = {SCOPE: candidate.scope}
        if candidate.scope == "project":
            metadata[PROJECT] = self._parts.active.project
        return Fact(
            id=fact_id(text),
            text=text,
            kind=candidate.kind,
            timestamp=draft.said_at,
            tags=(TAG, candidate.kind),
            metadata=metadata,
            provenance=Provenance(
                source=SOURCE,
                session_id=window.session_id,
                entry_ids=tuple(entry.id for entry in window.entries)[:1],
                host=window.host,
                speaker=draft.told.actor,
                quote=draft.told.evidence,
            ),
        )

    def _target(self, fact: Fact, draft: Draft) -> Target:
        return Target(
            document_id=note_id(fact.text),
            source=PERSONAL if self._parts.active.is_personal else "session-note",
            tags=(self._parts.bank.id, TAG),
            session_id=draft.window.session_id,
            host=draft.window.host,
            timestamp=draft.said_at,
            reason=draft.window.reason,
            verbatim=True,
        )
