"""``hindsight-mem import state``: what the plugins that are replaced have left behind."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hindsight_core.cli.app import App, common
from hindsight_core.cli.detached import alone

if TYPE_CHECKING:
    from rich.console import Console

    from hindsight_core.importing.state.desk import Desk, Tally

KIN = ("pi", "omp")


@click.command()
@common
@click.option("--dry-run", is_flag=True, help="Count what would be taken over; change nothing.")
def state(app: App, *, dry_run: bool) -> int:
    """Take over what pi-hindsight, s1enhanced and active memory have kept.

    Watermarks, saved ranges, cursors, queued writes and dead letters, waiting reviews, session
    modes, receipts, active memories: nothing is memorized twice, no write is lost. The plugins'
    files stay as they are; taking over twice changes nothing.
    """
    if dry_run:
        return app.run(_adopt(app, dry_run=True))
    with alone(app.paths.home):
        return app.run(_adopt(app, dry_run=False))


async def _adopt(app: App, *, dry_run: bool) -> int:
    from hindsight_core.importing.state.run import adopt

    app.warn()
    desk = _desk(app, dry_run=dry_run)
    try:
        tallies = await adopt(desk)
    finally:
        await desk.runtimes.close()
    data = {
        "dry_run": dry_run,
        "sessions": len(desk.sessions),
        "state": [
            {"name": t.name, "adopted": t.adopted, "known": t.known, "left": t.left}
            for t in tallies
        ],
    }
    app.emit(data, lambda console: _show(console, tallies))
    left = [reason for tally in tallies for reason in tally.left]
    for reason in left:
        print(f"hindsight-mem: {reason}", file=sys.stderr)
    return 1 if left else 0


def _desk(app: App, *, dry_run: bool) -> Desk:
    from hindsight_core.importing.filing import Filing
    from hindsight_core.importing.past import Wanted, find
    from hindsight_core.importing.runtimes import Runtimes
    from hindsight_core.importing.state.desk import Desk
    from hindsight_core.plugins import installed_hosts, load_host

    kin = [name for name in installed_hosts() if name in KIN]
    sessions = find(Wanted(), env=os.environ, load=load_host, installed=kin).sessions
    folders = dict.fromkeys([Path.cwd(), *(Path(s.cwd) for s in sessions if s.cwd)])
    return Desk(
        sessions=sessions,
        folders=list(folders),
        filing=Filing(os.environ, claim=not dry_run, bank=app.bank_name),
        runtimes=Runtimes(os.environ),
        env=os.environ,
        dry_run=dry_run,
    )


def _show(console: Console, tallies: list[Tally]) -> None:
    from rich.table import Table

    if not any(t.adopted or t.known or t.left for t in tallies):
        console.print("nothing of the plugins' state was found")
        return
    table = Table("state", box=None, pad_edge=False)
    for title in ("taken over", "known", "left"):
        table.add_column(title, justify="right")
    for tally in tallies:
        table.add_row(tally.name, str(tally.adopted), str(tally.known), str(len(tally.left)))
    console.print(table)
