"""``hindsight-mem import claude-mem``, ``mem0`` and ``notes``: what is kept elsewhere, as facts."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hindsight_core.cli.app import App, common
from hindsight_core.cli.detached import alone
from hindsight_core.errors import ConfigError, MemoryOff

if TYPE_CHECKING:
    from hindsight_core.importing.bringing import Brought
    from hindsight_core.importing.memories.claude_mem import Observed
    from hindsight_core.memory import Fact

_DRY = click.option("--dry-run", is_flag=True, help="Count what is new; store nothing.")
_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command()
@common
@click.argument("files", nargs=-1, type=_FILE)
@_DRY
def notes(app: App, files: tuple[Path, ...], *, dry_run: bool) -> int:
    """Read notes for agents; without FILES the project's AGENTS.md, CLAUDE.md, MEMORY.md ...

    Each item or paragraph becomes a fact, under the heading that it stands under.
    """
    from hindsight_core.importing.memories.notes import NAMES, facts_of

    here = [path for name in NAMES if (path := _root(app) / name).is_file()]
    # One file often stands under several names.
    chosen = list({path.resolve(): path for path in reversed(files or here)}.values())[::-1]
    if not chosen:
        raise ConfigError(f"there are no notes here ({', '.join(NAMES)}). Name files.")
    return _brought(app, (fact for path in chosen for fact in facts_of(path)), dry_run=dry_run)


@click.command()
@common
@click.argument("file", type=_FILE)
@_DRY
def mem0(app: App, file: Path, *, dry_run: bool) -> int:
    """Read an export of mem0: JSON, or one memory a line."""
    from hindsight_core.importing.memories.mem0 import facts_of

    return _brought(app, facts_of(file), dry_run=dry_run)


@click.command("claude-mem")
@common
@click.argument("file", required=False, type=_FILE)
@click.option(
    "--project", "named", metavar="NAME", help="Take what it keeps under this name, for here."
)
@_DRY
def claude_mem(app: App, file: Path | None, *, named: str | None, dry_run: bool) -> int:
    """Read claude-mem's database: what was observed and learned, without its work logs.

    It knows projects by their names only. What comes from a session that Claude Code has kept is
    filed under the folder which that session recorded; the rest needs --project.
    """
    from hindsight_core.importing.memories.claude_mem import default_file, read

    observed = read(file or default_file(os.environ))
    if named is not None:
        mine = [fact for o in observed if o.project == named for fact in o.facts]
        return _brought(app, mine, dry_run=dry_run)
    return _alone(app, lambda: app.run(_filed(app, observed, dry_run=dry_run)), dry_run=dry_run)


def _brought(app: App, facts: Iterable[Fact], *, dry_run: bool) -> int:
    # What is wrong with a file is said before anything is stored.
    listed = list(facts)
    return _alone(app, lambda: app.run(_here(app, listed, dry_run=dry_run)), dry_run=dry_run)


async def _here(app: App, facts: list[Fact], *, dry_run: bool) -> int:
    from hindsight_core.importing.bringing import bring

    async with app.runtime() as runtime:
        if runtime.read_only:
            raise MemoryOff("bank.read_only is set: nothing is imported")
        brought = await bring(runtime, runtime.bank_id, facts, dry_run=dry_run)
        bank = runtime.bank_id
    _report(app, {bank: brought}, left={}, dry_run=dry_run)
    return 0


async def _filed(app: App, observed: list[Observed], *, dry_run: bool) -> int:
    from hindsight_core.importing.bringing import bring, merged
    from hindsight_core.importing.filing import Filing
    from hindsight_core.importing.memories.claude_mem import HOST
    from hindsight_core.importing.past import Wanted, find
    from hindsight_core.importing.runtimes import Runtimes
    from hindsight_core.plugins import installed_hosts, load_host

    app.warn()
    hosts = [name for name in installed_hosts() if name == HOST]
    kept = find(Wanted(), env=os.environ, load=load_host, installed=hosts).sessions
    folders = {session.session_id: session.cwd for session in kept}
    filing, runtimes = (
        Filing(os.environ, claim=not dry_run, bank=app.bank_name),
        Runtimes(os.environ),
    )
    results: dict[str, list[Brought]] = {}
    left: dict[str, int] = {}
    try:
        for item in observed:
            place = filing.folder(folders.get(item.session_id), host=HOST)
            if place.bank is None:
                left[item.project] = left.get(item.project, 0) + len(item.facts)
                continue
            done = await bring(runtimes.of(place), place.bank, item.facts, dry_run=dry_run)
            results.setdefault(place.bank, []).append(done)
    finally:
        await runtimes.close()
    _report(app, {bank: merged(r) for bank, r in results.items()}, left=left, dry_run=dry_run)
    return 0


def _report(app: App, banks: dict[str, Brought], *, left: dict[str, int], dry_run: bool) -> None:
    data: dict[str, Any] = {
        "dry_run": dry_run,
        "banks": {
            bank: {"facts": b.stored, "known": b.known, "refused": b.refused}
            for bank, b in banks.items()
        },
        "left": left,
    }
    verb = "would be stored" if dry_run else "stored"
    lines = [
        f"{bank}: {len(b.stored)} facts {verb}, {b.known} known"
        + (f", {b.refused} refused" if b.refused else "")
        for bank, b in banks.items()
    ]
    app.emit(data, lambda console: console.print("\n".join(lines) or "nothing", markup=False))
    for project, count in left.items():
        print(
            f"hindsight-mem: {count} facts of {project!r} come from no session that is kept: "
            f"run it in that project's folder with --project {project}",
            file=sys.stderr,
        )


def _alone(app: App, work: Any, *, dry_run: bool) -> int:  # noqa: ANN401 - a plain function
    if dry_run:
        result: int = work()
        return result
    with alone(app.paths.home):
        done: int = work()
        return done


def _root(app: App) -> Path:
    return app.loaded.project.checkout or app.loaded.project.root or Path.cwd()
