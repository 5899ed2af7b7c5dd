"""Runs a synchronisation: reads the folder and the bank, decides fact by fact, carries it out."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from hindsight_core.banks.base import CopyingBank
from hindsight_core.errors import BankError
from hindsight_core.identity import fact_id
from hindsight_core.sharing.baseline import Baseline, Met
from hindsight_core.sharing.conflicts import Resolve, resolve
from hindsight_core.sharing.fact_file import FactFile
from hindsight_core.sharing.plan import Known, Step, decide, is_lost
from hindsight_core.sharing.report import SyncReport
from hindsight_core.sharing.taking import Taking

if TYPE_CHECKING:
    from hindsight_core.banks.base import Bank
    from hindsight_core.services import Clock
    from hindsight_core.sharing.folder import FactFolder, Reading
    from hindsight_core.sharing.shareable import Shareable

REMOVED = "its file was removed from the repository"


@dataclass
class Sync:
    """One synchronisation of a bank with a folder.

    Attributes:
        bank: The project's bank.
        folder: The checkout's folder.
        baseline: What they had in common.
        shareable: Which facts may go.
        clock: Dates what is shared.
        refused: Why a file must not become a fact; None for no reason.
        forget: Told the id of a fact that is deleted for good.
        how: What becomes of the two sides of a conflict in a file.
        dry_run: Change nothing.
    """

    bank: Bank
    folder: FactFolder
    baseline: Baseline
    shareable: Shareable
    clock: Clock
    refused: Callable[[FactFile], str | None] = lambda _: None
    forget: Callable[[str], Awaitable[None]] | None = None
    how: Resolve = "both"
    dry_run: bool = False
    report: SyncReport = field(default_factory=SyncReport)
    _names: dict[str, str] = field(default_factory=dict)

    async def run(
        self, *, trusted: bool, removed: Callable[[Collection[str]], Collection[str]]
    ) -> SyncReport:
        """Both ways.

        Args:
            trusted: What comes from others may act here; otherwise only files of ours change.
            removed: Of these file names, which are gone because somebody removed them.

        Raises:
            BankError: The bank failed; what was done before stays, and is not done again.
            StorageError: A file could not be written.
        """
        await self._meet()
        reading = self.folder.read()
        files = self._files(reading, trusted=trusted)
        bank, hidden = await self._shared()
        missing = {
            key: met
            for key, met in self.baseline.facts.items()
            if key not in files and not _unread(met, reading)
        }
        gone = removed([met.file for met in missing.values()])
        unwanted = await self._forgotten()
        shared = [f for key, f in files.items() if key in self.baseline.facts and f.text]
        lost = is_lost(shared, {*bank, *hidden}, unwanted)
        for key in dict.fromkeys((*files, *bank, *self.baseline.facts)):
            file, met = files.get(key), self.baseline.facts.get(key)
            if file is None and met is not None and _unread(met, reading):
                continue
            known = Known(
                file=file,
                bank=bank.get(key),
                met=met,
                hidden=key in hidden,
                unwanted=file is not None and fact_id(file.text) in unwanted,
                lost=lost,
                removed=met is not None and met.file in gone,
            )
            step = decide(known)
            if not trusted and self._is_foreign(known, step):
                self.report.foreign += 1
                continue
            await self._carry_out(key, known, step)
        await self._taking.flush()
        self.report.problems.update(reading.problems)
        self._finish(complete=trusted and not reading.problems)
        return self.report

    async def take_in(self) -> SyncReport:
        """Only what files tell that nobody has changed here: for a session, which writes none.

        An older form than the one known is left: another branch may have been checked out.
        """
        await self._meet()
        reading, changed = await asyncio.to_thread(self._changed)
        unwanted = await self._forgotten() if changed else frozenset()
        done = False
        try:
            for file in changed:
                await self._take_one(file, unwanted)
            await self._taking.flush()
            done = True
        finally:
            # A session that ends goes on where it stopped.
            self._finish(complete=done)
        self.report.conflicts = sorted(reading.conflicts)
        self.report.problems.update(reading.problems)
        return self.report

    async def _take_one(self, file: FactFile, unwanted: Collection[str]) -> None:
        held = await self.bank.get_fact(file.id)
        bank = None if held is None else self.shareable.form(held)
        known = Known(
            file=file,
            bank=bank,
            met=self.baseline.facts.get(file.id),
            hidden=held is not None and bank is None,
            unwanted=fact_id(file.text) in unwanted,
        )
        step = decide(known)
        if step.act in ("take", "erase", "same"):
            await self._carry_out(file.id, known, step)

    def _changed(self) -> tuple[Reading, list[FactFile]]:
        """The folder, and the facts of its files that are new here or no older than known."""
        reading = self.folder.read()
        files = self._files(reading, trusted=True, resolving=False)
        known = self.baseline.facts
        return reading, [
            file
            for key, file in files.items()
            if (met := known.get(key)) is None
            or (file.digest != met.digest and _at(file) >= met.changed)
        ]

    async def _meet(self) -> None:
        identity = getattr(self.bank, "identity", None)
        self.baseline.met_by(await identity() if identity is not None else "")

    def _files(
        self, reading: Reading, *, trusted: bool, resolving: bool = True
    ) -> dict[str, FactFile]:
        """Facts of the files by id, conflicts resolved."""
        found: dict[str, FactFile] = {}
        for name, shared in reading.facts.items():
            self._add(found, shared, name, reading)
        for name, text in reading.conflicts.items() if resolving else ():
            if not trusted:
                self.report.foreign += 1
                continue
            try:
                kept = resolve(text, stem=name.rpartition(".")[0], how=self.how)
            except ValueError as error:
                reading.problems[name] = str(error)
                continue
            self.report.conflicts.append(name)
            self._names[kept[0].id] = name
            for shared in kept:
                self._add(found, shared, self._names.get(shared.id, shared.name), reading)
                self._write(shared)
            self.report.settled += [shared.id for shared in kept[1:]]
        return found

    def _add(
        self, found: dict[str, FactFile], shared: FactFile, name: str, reading: Reading
    ) -> None:
        why = self.refused(shared) if shared.text else None
        if why is not None:
            reading.problems[name] = why
        elif shared.id in found and found[shared.id].digest != shared.digest:
            reading.problems[name] = f"another file tells of fact {shared.id} too"
        else:
            found[shared.id] = shared
            self._names.setdefault(shared.id, name)

    async def _shared(self) -> tuple[dict[str, FactFile], set[str]]:
        """What the bank holds for others, and the ids of what it holds for itself."""
        forms: dict[str, FactFile] = {}
        hidden: set[str] = set()
        async for fact in self.bank.export_facts():
            form = self.shareable.form(fact)
            if form is None:
                hidden.add(fact.id)
            else:
                forms[fact.id] = form
        self.report.held = len(hidden)
        return forms, hidden

    async def _forgotten(self) -> frozenset[str]:
        return await self.bank.forgotten() if isinstance(self.bank, CopyingBank) else frozenset()

    def _is_foreign(self, known: Known, step: Step) -> bool:
        """Whether a step would let act here, or overwrite, what is not known to be ours."""
        met, file = known.met, known.file
        theirs = file is not None and (met is None or met.digest != file.digest)
        return step.act in ("take", "both", "erase", "retire") or (theirs and step.act != "same")

    async def _carry_out(self, key: str, known: Known, step: Step) -> None:
        if step.why:
            self.report.notes[key] = step.why
        try:
            done = await self._do(key, known, step)
        except BankError as error:
            if error.retryable:
                raise
            self.report.problems[key] = str(error)
            return
        if self.dry_run or step.act in ("wait", "take", "both"):
            return
        if done is None:
            self.baseline.facts.pop(key, None)
        else:
            self._note(done, None if step.act == "erase" else known.bank)

    async def _do(self, key: str, known: Known, step: Step) -> FactFile | None:
        """Carry a step out; the form that the file has then, None for nothing in common."""
        report, form = self.report, step.form
        match step.act:
            case "write" if form is not None:
                (report.tombs if form.state == "deleted" else report.written).append(key)
                return self._write(form)
            case "take" if form is not None:
                await self._take(form, new=known.bank is None and not known.hidden)
                report.taken.append(key)
            case "both" if form is not None:
                for kept in filter(None, (form, step.extra)):
                    await self._take(self._write(kept))
                    report.settled.append(kept.id)
                await self._taking.flush()
            case "erase":
                if not self.dry_run:
                    await self._taking.erase(key)
                report.erased.append(key)
            case "retire":
                if not self.dry_run:
                    await self.bank.set_state(key, "invalidated", reason=REMOVED)
                report.retired.append(key)
                return None
        return form

    async def _take(self, form: FactFile, *, new: bool = False) -> None:
        if not self.dry_run:
            await self._taking.add(form, None if new else await self.bank.get_fact(form.id))

    @cached_property
    def _taking(self) -> Taking:
        return Taking(self.bank, self.shareable, self._note, self.forget)

    def _write(self, form: FactFile) -> FactFile:
        """Write a form under the name that the fact's file has; what stands there now."""
        now = self.clock().replace(microsecond=0)
        dated = form if form.changed else replace(form, changed=now)
        if not self.dry_run:
            self.folder.write(self._names.get(form.id, form.name), dated)
        return dated

    def _note(self, form: FactFile, held: FactFile | None) -> None:
        """Keep what both sides have in common now."""
        self.baseline.facts[form.id] = Met(
            digest=form.digest,
            held=held.digest if held is not None else "",
            file=self._names.get(form.id, form.name),
            changed=_at(form),
        )

    def _finish(self, *, complete: bool) -> None:
        if not self.dry_run:
            self.baseline.signature = self.folder.signature() if complete else ""
            self.baseline.save()


def _unread(met: Met, reading: Reading) -> bool:
    """Whether a file is there and merely could not be used."""
    return met.file in reading.problems or met.file in reading.conflicts


def _at(form: FactFile) -> float:
    return form.changed.timestamp() if form.changed else 0.0
