"""Sends what of a session was not sent yet, each entry once (s1/S-RET, S-CUR; oc/O-RET)."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hindsight_core.errors import HindsightError, WriteVetoed
from hindsight_core.memorize.candidates import complete
from hindsight_core.memorize.report import MemorizeReport
from hindsight_core.memorize.run import Run, running
from hindsight_core.memorize.target import Target
from hindsight_core.memorize.transcript.adopted import retained_ids
from hindsight_core.memorize.transcript.cursor import (
    TAIL,
    Fresh,
    Link,
    Trail,
    by_chain,
    by_entry,
    turns,
)
from hindsight_core.memorize.transcript.plan import Series, groups
from hindsight_core.memorize.transcript.projection import Projection
from hindsight_core.memorize.transcript.wording import worded
from hindsight_core.state.outbox import OVERLAP
from hindsight_core.state.retained import Row, TranscriptMark
from hindsight_core.transcript.entry import Window
from hindsight_core.transcript.path import active_path

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hindsight_core.memorize.parts import Parts
    from hindsight_core.memorize.store import Store
    from hindsight_core.memorize.transcript.plan import Plan
    from hindsight_core.memory import Fact
    from hindsight_core.transcript.entry import Entry, Transcript

logger = logging.getLogger("hindsight_core.memorize")
WINDOW_CHARS = 100_000
IDLE = "idle"
# Turn by turn: only these wait until enough turns have come together.
THROTTLED = frozenset({"turns", IDLE})
_TRIES = 3
_SESSIONS = 64


class TranscriptSource:
    """The transcript source of one bank.

    Args:
        parts: Settings, bank, outbox, cursor.
        store: Resolves facts and writes documents.
    """

    def __init__(self, parts: Parts, store: Store) -> None:
        self._parts = parts
        self._store = store
        self._projection = Projection(parts.settings.retain)
        self._trails: dict[str, Trail] = {}

    async def retain(
        self, transcript: Transcript, *, reason: str, alone: bool = True
    ) -> list[MemorizeReport]:
        """Send what is new on the active path.

        Args:
            transcript: The whole active path.
            reason: Why now; ``turns`` and ``idle`` wait until ``memorize.every_turns`` turns of
                the user are new.
            alone: No other source looks at the entries: the journal need not keep them, and
                facts for a bank that finds none itself are found here.

        Returns:
            One report a document; none when nothing is new. It ends with the first that failed:
            what follows stays for another try.
        """
        reports: list[MemorizeReport] = []
        for _ in range(_TRIES):
            links = self._links(transcript)
            fresh, known = await self._fresh(transcript.session_id, links)
            if not fresh.new or self._waits(fresh, reason):
                return reports
            done = await self._send(transcript, links, fresh, known, reason=reason, alone=alone)
            if done is None:
                # Another process has dealt with part of it meanwhile: look again.
                continue
            return [*reports, *done]
        return [*reports, MemorizeReport("failed", reason="another process sends it as well")]

    async def unseen(self, transcript: Transcript) -> tuple[Entry, ...]:
        """What on the active path is new."""
        fresh, _ = await self._fresh(transcript.session_id, self._links(transcript))
        return tuple(link.entry for link in fresh.new)

    async def pass_over(self, transcript: Transcript) -> None:
        """What is new goes nowhere, now or later (s1/S-RET-3)."""
        session = transcript.session_id
        fresh, _ = await self._fresh(session, self._links(transcript))
        mark = TranscriptMark(session, tuple(link.row() for link in fresh.new))
        await self._parts.retained.settle(self._parts.bank.id, mark)

    async def adopt(self, transcript: Transcript, cursor: Mapping[str, Any]) -> None:
        """Start behind what another plugin has sent, unless we have begun (s1/S-CUR-4)."""
        bank, session = self._parts.bank.id, transcript.session_id
        if await self._parts.retained.rows(bank, session):
            return
        links = self._links(transcript)
        behind = set(retained_ids(cursor, [link.entry for link in links]))
        rows = tuple(link.row() for link in links if link.entry.id in behind)
        await self._parts.retained.settle(bank, TranscriptMark(session, rows))

    def _links(self, transcript: Transcript) -> tuple[Link, ...]:
        session = transcript.session_id
        path = self._parts.sanitiser.entries(active_path(transcript.entries))
        if session not in self._trails and len(self._trails) >= _SESSIONS:
            self._trails.pop(next(iter(self._trails)))
        return self._trails.setdefault(session, Trail()).follow(path)

    async def _fresh(self, session: str, links: Sequence[Link]) -> tuple[Fresh, Mapping[str, Row]]:
        bank, retained = self._parts.bank.id, self._parts.retained
        tail = [link.entry.id for link in links[-TAIL:]]
        known = await retained.rows(bank, session, ids=tail)
        whole = self._parts.settings.retain.update_mode == "replace"
        found = by_chain(links, known)
        if found is not None and not (found.new and whole):
            return found, known
        known = await retained.rows(bank, session)
        if found is not None:
            return found, known
        carried = 0
        if not known and all(link.entry.timestamp for link in links[:1]):
            carried = await retained.carried(bank, [link.chain for link in links])
        return by_entry(links, known, carried=carried), known

    def _waits(self, fresh: Fresh, reason: str) -> bool:
        if reason not in THROTTLED:
            return False
        said = turns([link.entry for link in fresh.new])
        return said < self._parts.settings.memorize.every_turns

    async def _send(
        self,
        transcript: Transcript,
        links: Sequence[Link],
        fresh: Fresh,
        known: Mapping[str, Row],
        *,
        reason: str,
        alone: bool,
    ) -> list[MemorizeReport] | None:
        settings = self._parts.settings
        series = Series(
            transcript.session_id,
            transcript.host,
            settings.retain,
            appends=await self._appends(),
        )
        reports: list[MemorizeReport] = []
        moved = tuple(link.row(_document(known, link)) for link in fresh.moved)
        for new in groups(
            fresh.new,
            settings.retain,
            every=settings.memorize.every_turns,
            most=WINDOW_CHARS,
        ):
            plan = series.plan(new, path=links, known=known)
            mark = TranscriptMark(
                transcript.session_id,
                tuple(link.row() for link in new),
                known=moved,
                keep_journal=not alone,
            )
            report = await self._write(transcript, plan, mark, reason=reason, alone=alone)
            if report is None:
                return None if not reports else reports
            if report.outcome != "empty" or not reports:
                reports.append(report)
            if report.outcome == "failed":
                break
            known = {**known, **{link.entry.id: link.row(plan.document_id) for link in new}}
            moved = ()
        return reports

    async def _appends(self) -> bool:
        """Asked only where it matters, and never relied on when the bank does not say."""
        retain = self._parts.settings.retain
        if retain.document != "session" or retain.update_mode != "append":
            return False
        asked = getattr(self._parts.bank, "appends", None)
        if asked is None:
            return False
        can: bool = await asked()
        return can

    async def _write(
        self,
        transcript: Transcript,
        plan: Plan,
        mark: TranscriptMark,
        *,
        reason: str,
        alone: bool,
    ) -> MemorizeReport | None:
        """One document; None when another process was faster."""
        with running(Run()) as run:
            try:
                report = await self._document(transcript, plan, mark, reason=reason, alone=alone)
            except WriteVetoed as error:
                bank = self._parts.bank.id
                if not await self._parts.retained.settle(bank, mark, scrub=True):
                    return None
                report = MemorizeReport("skipped", reason=str(error), vetoed=True)
            except HindsightError as error:
                logger.info("transcript kept for another try: %s", error)
                report = MemorizeReport("failed", reason=str(error))
        if report is not None:
            report = replace(report, calls=run.calls, rejected=tuple(run.rejected))
        return report

    async def _document(
        self,
        transcript: Transcript,
        plan: Plan,
        mark: TranscriptMark,
        *,
        reason: str,
        alone: bool,
    ) -> MemorizeReport | None:
        parts, retain = self._parts, self._parts.settings.retain
        window = await parts.hooks.filter_window(
            self._window(transcript, [link.entry for link in plan.new], reason=reason)
        )
        kept = {entry.id: entry for entry in window.entries}
        new = {link.entry.id for link in plan.new}
        entries = [
            kept.get(link.entry.id, link.entry)
            for link in plan.content
            if link.entry.id in kept or link.entry.id not in new
        ]
        said = [(entry, self._projection.of(entry)) for entry in entries]
        text = worded(said, form=retain.form)
        if not any(said_parts for entry, said_parts in said if entry.id in new):
            settled = await parts.retained.settle(parts.bank.id, mark)
            return MemorizeReport("empty", reason="nothing was said in it") if settled else None
        facts = await self._facts(window) if alone else []
        report = await self._store.store(
            facts, self._target(transcript, plan, mark, text, entries, reason=reason)
        )
        raced = report.outcome == "failed" and report.reason == OVERLAP
        return None if raced else report

    async def _facts(self, window: Window) -> list[Fact]:
        parts = self._parts
        if parts.bank.capabilities.extracts:
            return []
        found: Sequence[Fact] = await parts.hooks.extract_facts(window) or ()
        filtered = await parts.hooks.filter_facts(window, complete(found, window, parts))
        return complete(filtered, window, parts)

    def _window(self, transcript: Transcript, entries: Sequence[Entry], *, reason: str) -> Window:
        return Window(
            session_id=transcript.session_id,
            host=transcript.host,
            entries=tuple(entries),
            project=self._parts.project,
            reason=reason,
        )

    def _target(
        self,
        transcript: Transcript,
        plan: Plan,
        mark: TranscriptMark,
        text: str,
        entries: Sequence[Entry],
        *,
        reason: str,
    ) -> Target:
        return Target(
            document_id=plan.document_id,
            source="transcript",
            tags=(self._parts.bank.id, "transcript"),
            session_id=transcript.session_id,
            host=transcript.host,
            timestamp=next((e.timestamp for e in reversed(entries) if e.timestamp), None),
            text=text,
            window=mark,
            reason=reason,
            keep=True,
            append=plan.kind == "append",
        )


def _document(known: Mapping[str, Row], link: Link) -> str:
    row = known.get(link.entry.id)
    return row.document_id if row is not None else ""
