"""``hindsight-mem import git``: what a repository's commits say."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hindsight_core.cli.app import App, common
from hindsight_core.cli.detached import alone, start
from hindsight_core.cli.import_sessions import FORMS, given

if TYPE_CHECKING:
    from rich.console import Console

    from hindsight_core.importing.git.run import GitImport
    from hindsight_core.memorize.runner import MemorizeReport

Json = dict[str, Any]
MOST = 2_000


@click.command()
@common
@click.option("--diffs", is_flag=True, help="Read the beginning of what each commit changed, too.")
@click.option(
    "--since",
    type=click.DateTime(FORMS),
    metavar="DATE",
    help="Only commits written since then (UTC).",
)
@click.option(
    "--most",
    type=click.IntRange(1),
    default=MOST,
    show_default=True,
    help="Only so many, the newest.",
)
@click.option("--dry-run", is_flag=True, help="Count what is new; memorize nothing.")
@click.option(
    "--budget", type=click.IntRange(1), metavar="TOKENS", help="Tokens that models may use for it."
)
@click.option("--background", is_flag=True, help="Go on without this terminal.")
def git(
    app: App,
    *,
    diffs: bool,
    since: datetime | None,
    most: int,
    dry_run: bool,
    budget: int | None,
    background: bool,
) -> int | None:
    """Memorize the commit messages of this repository, each once.

    Merges and the commits of bots are left out. Run again it reads what was committed since.
    """
    options = {
        "diffs": diffs,
        "since": since.replace(tzinfo=UTC) if since else None,
        "most": most,
        "budget": budget,
    }
    if dry_run:
        return app.run(_import(app, options, dry_run=True))
    if background:
        told = {"--diffs": diffs, "--since": given(since), "--most": most, "--budget": budget}
        return start(app, ["import", "git"], told)
    with alone(app.paths.home):
        return app.run(_import(app, options, dry_run=False))


async def _import(app: App, options: Json, *, dry_run: bool) -> int:
    from hindsight_core.errors import MemoryOff
    from hindsight_core.importing.git.program import Git
    from hindsight_core.importing.git.run import GitImport

    reports: list[MemorizeReport] = []
    async with app.runtime() as runtime:
        if runtime.read_only:
            raise MemoryOff("bank.read_only is set: nothing is imported")
        run = GitImport(runtime, Git(Path.cwd(), os.environ), **options)
        if dry_run:
            await run.look()
        else:
            await _followed(run, reports)
        bank = runtime.bank_id
    data = {
        "bank": bank,
        "dry_run": dry_run,
        "commits": run.commits,
        "noise": run.noise,
        "tokens": run.tokens,
        "used": run.used,
        "unfinished": run.unfinished,
        "facts": [fact.text for report in reports for fact in report.stored],
        "known": sum(report.known for report in reports),
    }
    app.emit(data, lambda console: _show(console, data, over_budget=run.over_budget))
    troubles = [r.reason for r in reports if r.outcome in ("failed", "queued")]
    if troubles and not run.over_budget:
        print(f"hindsight-mem: {troubles[0]}", file=sys.stderr)
        return 1
    return 0


async def _followed(run: GitImport, reports: list[MemorizeReport]) -> None:
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("commits", total=None)
        async for report in run.run():
            reports.append(report)
            bar.update(task, total=run.commits, completed=run.read)


def _show(console: Console, data: Json, *, over_budget: bool) -> None:
    new = f"{data['commits']} new commits say something, {data['noise']} do not"
    console.print(f"{new} (about {data['tokens']} tokens)", markup=False)
    if data["dry_run"]:
        console.print("nothing was memorized")
        return
    console.print(
        f"{len(data['facts'])} facts into {data['bank']}, {data['known']} were known", markup=False
    )
    if over_budget:
        console.print(
            f"stopped at the budget: {data['used']} tokens are used. Run it again to go on.",
            markup=False,
        )
