"""``hindsight-mem bank sync``: reviewed facts as files of the repository, both ways."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hindsight_core.cli.app import App, common
from hindsight_core.errors import ConfigError, MemoryOff

if TYPE_CHECKING:
    from rich.console import Console

    from hindsight_core.sharing.conflicts import Resolve
    from hindsight_core.sharing.report import SyncReport

_SHOWN = 10


@click.command()
@common
@click.option(
    "--resolve",
    "how",
    type=click.Choice(["both", "newest"]),
    default="both",
    show_default=True,
    help="What becomes of a conflict that git has left in a file.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be done; change nothing.")
def sync(app: App, *, how: Resolve, dry_run: bool) -> int:
    """Share reviewed facts through files in .hindsight/facts.

    Facts of the project's bank become files, one a fact; files that came with git pull, or were
    edited by hand, become facts, once the project is trusted. Corrections, retirements and
    deletions travel both ways. Never written are facts that are pending, private or waiting for a
    review, and secrets. Commit and push the files as you do with code.

    A file with conflict markers is resolved: both texts are kept, or with --resolve newest the
    one that was shared last.
    """
    return app.run(_sync(app, how, dry_run=dry_run))


async def _sync(app: App, how: Resolve, *, dry_run: bool) -> int:
    from hindsight_core.engine.sharing import sync_of
    from hindsight_core.sharing.removed import is_ignored, removed_files

    checkout = app.loaded.project.checkout
    if checkout is None or not checkout.is_dir():
        raise ConfigError(f"{Path.cwd()} is no project; run this inside a checkout")
    async with app.runtime() as runtime:
        if runtime.read_only:
            raise MemoryOff("bank.read_only is set: no facts are taken over")
        if runtime.bank_id == runtime.settings.bank.user_id:
            raise ConfigError(f"{runtime.bank_id} is your personal bank; it is never shared")
        work = await sync_of(runtime, checkout, how=how, dry_run=dry_run)
        trusted = app.loaded.project.trusted
        report = await work.run(trusted=trusted, removed=partial(removed_files, checkout))
        bank, folder = runtime.bank_id, work.folder.path
    if is_ignored(checkout) and folder.is_dir():
        print(f"hindsight-mem: git ignores {folder}; nobody else will get it", file=sys.stderr)
    if not trusted and not report.foreign:
        report.notes["trust"] = (
            "what others share is taken over once you have run `hindsight-mem trust`"
        )
    _tell(app, report, bank=bank, folder=folder, dry_run=dry_run)
    return 2 if report.problems or report.foreign else 0


def _tell(app: App, report: SyncReport, *, bank: str, folder: Path, dry_run: bool) -> None:
    for name, reason in list(report.problems.items())[:_SHOWN]:
        print(f"hindsight-mem: {name}: {reason}", file=sys.stderr)
    if len(report.problems) > _SHOWN:
        print(f"hindsight-mem: and {len(report.problems) - _SHOWN} more", file=sys.stderr)
    if report.foreign:
        print(
            f"hindsight-mem: {report.foreign} changed files in {folder} are left alone, because "
            "this project is not trusted: look at them, then run `hindsight-mem trust`",
            file=sys.stderr,
        )
    lists = ("written", "taken", "retired", "erased", "tombs", "settled", "conflicts")
    data: dict[str, Any] = {"bank": bank, "folder": str(folder), "dry_run": dry_run}
    data |= {name: getattr(report, name) for name in lists}
    data |= {name: getattr(report, name) for name in ("held", "foreign", "problems", "notes")}

    def human(console: Console) -> None:
        for line in _lines(report, bank, dry_run=dry_run):
            console.print(line, markup=False)

    app.emit(data, human)


def _lines(report: SyncReport, bank: str, *, dry_run: bool) -> list[str]:
    counts = (
        (report.written, "written to files"),
        (report.taken, "taken over from files"),
        (report.settled, "kept of two forms"),
        (report.conflicts, "files with conflict markers resolved"),
        (report.retired, "invalidated, because their files were removed"),
        (report.erased, "deleted here, as they were elsewhere"),
        (report.tombs, "told to be deleted"),
    )
    done = [f"{len(items)} {text}" for items, text in counts if items]
    first = f"{bank}: {', '.join(done) or 'nothing to share and nothing new'}"
    lines = [f"would do, for {first}" if dry_run else first]
    if report.held:
        lines.append(f"{report.held} facts stay here: pending, private or waiting for a review")
    lines += [f"{key}: {why}" for key, why in list(report.notes.items())[:_SHOWN]]
    if not dry_run and (report.written or report.tombs or report.settled or report.conflicts):
        lines.append("next: git add .hindsight/facts, then commit and push")
    return lines
