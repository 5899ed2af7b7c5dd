"""The memorize pipeline: window, extract, filter, resolve, store, summary."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from hindsight_core.budget import work
from hindsight_core.errors import HindsightError, WriteVetoed
from hindsight_core.memorize.allowed import allowed, refusal
from hindsight_core.memorize.candidates import complete, target_of
from hindsight_core.memorize.capture.writing import ActiveWriting
from hindsight_core.memorize.note import Notes
from hindsight_core.memorize.particulars import PLAIN, Particulars
from hindsight_core.memorize.parts import ActiveParts, Parts
from hindsight_core.memorize.report import MemorizeReport, incomplete
from hindsight_core.memorize.resave import Resave
from hindsight_core.memorize.run import Run, running
from hindsight_core.memorize.sessions import EXPLICIT, RESAVE, Cut, SessionWindows, whole
from hindsight_core.memorize.sources import Sources
from hindsight_core.memorize.store import Store
from hindsight_core.memorize.summary import Summaries
from hindsight_core.memorize.transcript.source import IDLE, TranscriptSource
from hindsight_core.state.outbox import OVERLAP
from hindsight_core.transcript.projections import memorize_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from hindsight_core.banks.base import Bank
    from hindsight_core.config.settings import Settings
    from hindsight_core.memorize.labels import Labels
    from hindsight_core.plugins import Hooks
    from hindsight_core.services import Clock
    from hindsight_core.stages import Stages
    from hindsight_core.state.outbox import Outbox
    from hindsight_core.state.sessions import SessionState
    from hindsight_core.transcript.entry import Entry, Transcript, Window
    from hindsight_core.transcript.sanitise import Sanitiser

__all__ = ["MemorizeReport", "Memorizer"]
logger = logging.getLogger("hindsight_core.memorize")
_NO_SOURCE = "nothing extracts facts: memorize.mode names no source that does"
_NOTHING = "nothing worth keeping in it"
_SILENT = "nothing was said in it"


class Memorizer:
    """Turns what was said into facts of a bank.

    Args:
        settings: Sources, language, categories, bounds.
        hooks: Extracts, filters and resolves: plugins, then the built-in ones.
        bank: Where facts go.
        stages: The model chain.
        outbox: Makes each write durable before the bank is tried.
        sessions: Cursors, saved ranges, rolling summaries.
        sanitiser: The boundary that every text crosses.
        clock: Aware UTC now.
        project: Name of the project; the bank's name where there is none.
        labels: Further tags and metadata of what is written.
        active: What active memory needs besides.

    Attributes:
        active: The write side of active memory.
    """

    def __init__(
        self,
        *,
        settings: Settings,
        hooks: Hooks,
        bank: Bank,
        stages: Stages,
        outbox: Outbox,
        sessions: SessionState,
        sanitiser: Sanitiser,
        clock: Clock,
        project: str | None = None,
        labels: Labels | None = None,
        active: ActiveParts | None = None,
    ) -> None:
        self._parts = Parts(
            settings=settings,
            hooks=hooks,
            bank=bank,
            stages=stages,
            outbox=outbox,
            sessions=sessions,
            sanitiser=sanitiser,
            clock=clock,
            project=project or (labels.project if labels else "") or bank.id,
            labels=labels,
            active=active or ActiveParts(),
        )
        self._store = Store(self._parts)
        self._windows = SessionWindows(self._parts)
        self._summaries = Summaries(self._parts)
        self._notes = Notes(self._parts, self._store)
        self.active = ActiveWriting.of(self._parts, self._store)
        self._transcripts = transcripts = TranscriptSource(self._parts, self._store)
        self._sources = Sources(
            settings, windows=self._windows, transcripts=transcripts, candidates=self.active.source
        )

    async def run(self, window: Window) -> MemorizeReport:
        """Memorize one window that the caller has cut.

        The session's cursor is put behind it once it is dealt with; never when it failed.
        """
        entries = self._parts.sanitiser.entries(window.entries)
        if not any(map(memorize_text, entries)):
            return MemorizeReport("empty", reason=_SILENT)
        explicit = window.reason in EXPLICIT
        async with self._windows.turn(window.session_id):
            await self._windows.recognise()
            with work(session_id=window.session_id, explicit=explicit):
                return await self._run(whole(replace(window, entries=entries)))

    async def remember_transcript(
        self, transcript: Transcript, *, reason: str, before: str | None = None
    ) -> list[MemorizeReport]:
        """Memorize what of a session has not been memorized yet; runs of one session queue up.

        Args:
            transcript: The active path.
            reason: ``compact``, ``shutdown:quit`` ...; ``manual``, ``resave`` and ``import`` are
                explicit: no budget holds them back. ``resave`` starts at the beginning again.
            before: The first entry that is left for later, such as what a compaction keeps.

        Returns:
            One report a window, none when there is nothing new. It ends with the first that
            failed: that window and what follows stay for another try.
        """
        async with self._windows.turn(transcript.session_id):
            await self._windows.recognise()
            if (why := await refusal(self._parts, transcript.session_id)) is not None:
                return [MemorizeReport("skipped", reason=why)]
            transcript = await allowed(self._parts, transcript)
            with work(session_id=transcript.session_id, explicit=reason in EXPLICIT):
                found = await self._sources.entry_by_entry(transcript, reason=reason)
                if not self._sources.has_windows:
                    return found
                if reason != IDLE:
                    found += await self._all_due(transcript, reason, before)
                reports = [incomplete(report, transcript.skipped) for report in found]
            return reports or await self._nothing_due(transcript, before)

    def clears(self, reason: str) -> bool:
        """Whether a run without a failure has dealt with all that the journal keeps."""
        return self._sources.clears(reason)

    async def pass_over(self, transcript: Transcript) -> None:
        """Nothing of a session so far goes into this bank, now or later (s1/S-RET-3)."""
        await self._sources.pass_over(transcript)

    async def adopt(self, transcript: Transcript, cursor: Mapping[str, Any]) -> None:
        """What another plugin's cursor says is retained is dealt with (s1/S-CUR-4)."""
        await self._transcripts.adopt(transcript, cursor)

    async def is_known(self, transcript: Transcript) -> bool:
        """Whether every source has dealt with all of a session."""
        return not await self.unseen(transcript)

    async def unseen(self, transcript: Transcript) -> tuple[Entry, ...]:
        """What of a session some source has not dealt with yet."""
        return await self._sources.unseen(transcript)

    async def retain_note(
        self,
        text: str,
        *,
        kind: str = "fact",
        tags: Sequence[str] = (),
        source: str = "agent-note",
        session_id: str | None = None,
        host: str | None = None,
        particulars: Particulars = PLAIN,
    ) -> MemorizeReport:
        """Store what a person or the agent asked to keep, as it is (pi/G-01).

        Args:
            text: The note, in whole sentences.
            kind: ``fact``, ``decision``, ``constraint``, ``knowhow`` or ``pitfall``.
            tags: Besides those of every note.
            source: ``agent-note``, ``user-note`` or ``user-edit``.
            session_id: The session in which it was asked for.
            host: The agent program in which it was asked for.
            particulars: What it says of itself besides.

        Raises:
            ConfigError: The kind or source is not known. `StorageError`: it is not durable.
        """
        if (why := await refusal(self._parts, session_id)) is not None:
            return MemorizeReport("skipped", reason=why)
        with work(session_id=session_id, explicit=True), running(Run(ask=False)) as run:
            report = await self._notes.retain(
                text,
                kind=kind,
                tags=tags,
                source=source,
                session_id=session_id,
                host=host,
                particulars=particulars,
            )
            return replace(report, calls=run.calls)

    async def _all_due(
        self, transcript: Transcript, reason: str, before: str | None
    ) -> list[MemorizeReport]:
        reports: list[MemorizeReport] = []
        resave = None
        if reason == RESAVE:
            resave = await Resave.of(self._parts, transcript.session_id)
        due = await self._due(transcript, reason, before)
        while due:
            cut, *due = due
            report = await self._run(cut, replaces=resave.replaces if resave else None)
            if report.outcome != "failed":
                # That nobody extracts is no news where another source has looked.
                if not (report.reason == _NO_SOURCE and self._sources.has_candidates):
                    reports.append(report)
                await self._windows.passed(transcript, cut.last_entry_id)
                if resave is not None:
                    resave.stored(cut, report)
                continue
            due = [cut] if resave else await self._due(transcript, reason, before)
            if due and due[0].document_id == cut.document_id:
                reports.append(report)
                break
            if report.reason != OVERLAP:  # refused for good: a dead letter
                reports.append(report)
            # Another process has dealt with part of it meanwhile: go on with the rest.
        if resave is not None:
            await resave.finish()
        return reports

    async def _due(self, transcript: Transcript, reason: str, before: str | None) -> list[Cut]:
        return await self._windows.due(transcript, reason=reason, before=before)

    async def _nothing_due(
        self, transcript: Transcript, before: str | None
    ) -> list[MemorizeReport]:
        """Nothing, or that the cursor stands behind the boundary (pi/M-08)."""
        left = await self._windows.unseen(transcript) if before is not None else ()
        if not left:
            return []
        return [
            MemorizeReport(
                "skipped",
                reason=f"memorized beyond the boundary already; {len(left)} entries behind it wait",
            )
        ]

    async def _run(self, cut: Cut, *, replaces: frozenset[str] | None = None) -> MemorizeReport:
        if cut.window is None:
            return MemorizeReport("empty", reason=_SILENT)
        anew = replaces is not None
        prior = "" if anew else await self._summaries.prior(cut.window.session_id)
        with running(Run(prior_summary=prior)) as run:
            try:
                report = await self._memorize(cut, cut.window, replaces)
            except WriteVetoed as error:
                await self._pass(cut)
                report = MemorizeReport("skipped", reason=str(error), vetoed=True)
            except HindsightError as error:
                logger.info("memorize failed, the window is kept: %s", error)
                report = MemorizeReport("failed", reason=str(error))
            reason = report.reason or run.told(stored=report.outcome == "stored")
            return replace(report, reason=reason, calls=run.calls, rejected=tuple(run.rejected))

    async def _memorize(
        self, cut: Cut, window: Window, replaces: frozenset[str] | None
    ) -> MemorizeReport:
        hooks = self._parts.hooks
        window = await hooks.filter_window(window)
        found = await hooks.extract_facts(window)
        if found is None:
            return MemorizeReport("skipped", reason=_NO_SOURCE)
        filtered = await hooks.filter_facts(window, complete(found, window, self._parts))
        facts = complete(filtered, window, self._parts)
        if not facts:
            await self._pass(cut)
            return MemorizeReport("empty", reason=_NOTHING)
        target = target_of(cut, window, self._parts, replaces=replaces)
        report = await self._store.store(facts, target)
        if report.outcome == "known":
            await self._pass(cut)
        if report.outcome in ("stored", "queued"):
            await self._summaries.fold(window.session_id, report.stored)
        return report

    async def _pass(self, cut: Cut) -> None:
        """Looked at, nothing to store: the next window starts behind it (pi/M-20)."""
        await self._parts.sessions.set_cursor(
            self._parts.bank.id, cut.session_id, cut.last_entry_id
        )
