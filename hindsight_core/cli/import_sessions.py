"""``hindsight-mem import sessions``: what agents have kept from earlier days."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hindsight_core.cli.app import App, common
from hindsight_core.cli.detached import alone, start
from hindsight_core.cli.import_report import report

if TYPE_CHECKING:
    from hindsight_core.importing.filing import Part
    from hindsight_core.importing.past import Found, Wanted
    from hindsight_core.importing.sessions import Outcome, SessionImport

Json = dict[str, Any]
FORMS = ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S"]
_FAILED = ("failed", "unreadable", "queued")


@click.command()
@common
@click.argument("hosts", nargs=-1, metavar="[HOST...|all]")
@click.option("--dry-run", is_flag=True, help="Count what is new; memorize nothing.")
@click.option(
    "--since",
    type=click.DateTime(FORMS),
    metavar="DATE",
    help="Only sessions used since then (UTC).",
)
@click.option(
    "--project",
    type=click.Path(path_type=Path, file_okay=False),
    help="Only sessions of the project that holds this folder.",
)
@click.option(
    "--budget", type=click.IntRange(1), metavar="TOKENS", help="Tokens that models may use for it."
)
@click.option("--background", is_flag=True, help="Go on without this terminal.")
def sessions(
    app: App,
    hosts: tuple[str, ...],
    *,
    dry_run: bool,
    since: datetime | None,
    project: Path | None,
    budget: int | None,
    background: bool,
) -> int | None:
    """Memorize the sessions that agents have kept on this machine, each once.

    Each is filed under the folder that it recorded itself, and dated by its own time. Begun
    again it goes on where it stopped.
    """
    from hindsight_core.importing.past import Wanted

    wanted = Wanted(hosts, since.replace(tzinfo=UTC) if since else None, project)
    if background and not dry_run:
        options = {"--since": given(since), "--project": project, "--budget": budget}
        return start(app, ["import", "sessions", *hosts], options)
    if dry_run:
        return app.run(_look(app, wanted))
    with alone(app.paths.home):
        return app.run(_import(app, wanted, budget))


def given(since: datetime | None) -> str | None:
    """A moment as the option takes it."""
    return since.strftime(FORMS[1]) if since else None


def _found(app: App, wanted: Wanted, *, claim: bool) -> tuple[Found, list[Part], list[Json]]:
    """The sessions, those that have a bank, and those that have none with the reason."""
    from hindsight_core.importing.filing import Filing
    from hindsight_core.importing.past import find
    from hindsight_core.plugins import installed_hosts, load_host

    found = find(wanted, env=os.environ, load=load_host, installed=installed_hosts())
    for problem in found.problems:
        print(f"hindsight-mem: {problem}", file=sys.stderr)
    filing = Filing(os.environ, claim=claim, bank=app.bank_name)
    parts = [part for session in found.sessions for part in filing.parts(session)]
    without = [_skipped(part) for part in parts if part.place.bank is None]
    return found, [part for part in parts if part.place.bank is not None], without


async def _look(app: App, wanted: Wanted) -> int:
    from hindsight_core.importing.sessions import SessionImport

    found, parts, without = _found(app, wanted, claim=False)
    run = SessionImport(parts, os.environ)
    rows = await _followed(run, run.look(), len(parts))
    report(app, [*rows, *without], dry_run=True, children=found.children)
    return 0


async def _import(app: App, wanted: Wanted, budget: int | None) -> int:
    from hindsight_core.importing.sessions import SessionImport

    found, parts, without = _found(app, wanted, claim=True)
    run = SessionImport(parts, os.environ, budget=budget)
    rows = await _followed(run, run.run(), len(parts))
    report(
        app,
        [*rows, *without],
        dry_run=False,
        children=found.children,
        spent={"used": run.used, "budget": budget, "left": run.left},
    )
    for row in rows:
        if row["outcome"] in _FAILED:
            print(f"hindsight-mem: {row['source']}: {row['reason']}", file=sys.stderr)
    broken = [r for r in rows if r["outcome"] in _FAILED and not r["over_budget"]]
    return 1 if broken else 0


async def _followed(run: SessionImport, outcomes: Any, total: int) -> list[Json]:  # noqa: ANN401
    """Each session's row, with a bar where a person watches."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    rows: list[Json] = []
    try:
        with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
            task = bar.add_task("sessions", total=total)
            async for outcome in outcomes:
                rows.append(_row(outcome))
                where = f"{outcome.part.session.host} into {outcome.part.place.bank}"
                bar.update(task, advance=1, description=where)
    finally:
        await run.close()
    return rows


def _row(outcome: Outcome) -> Json:
    from hindsight_core.cli.remember import summary

    bank = str(outcome.part.place.bank)
    row = {**_named(outcome.part), "bank": bank, "new": outcome.entries, "tokens": outcome.tokens}
    row |= {"used": outcome.used, "over_budget": outcome.over_budget}
    if outcome.error is not None:
        return {**row, "outcome": "unreadable", "reason": outcome.error, "facts": []}
    if outcome.reports:
        return {**row, **summary(bank, list(outcome.reports))}
    return {**row, "outcome": "new" if outcome.entries else "known", "reason": None, "facts": []}


def _skipped(part: Part) -> Json:
    nothing: Json = {
        "bank": None,
        "new": 0,
        "tokens": 0,
        "used": 0,
        "over_budget": False,
        "facts": [],
    }
    return {**_named(part), **nothing, "outcome": "skipped", "reason": part.place.reason}


def _named(part: Part) -> Json:
    session = part.session
    return {
        "host": session.host,
        "session": session.session_id,
        "source": session.source,
        "cwd": session.cwd,
        "updated": session.updated.isoformat(),
    }
