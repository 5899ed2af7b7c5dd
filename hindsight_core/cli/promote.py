"""``hindsight-mem bank promote``: an embedded bank to a server, in one command."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from hindsight_core.cli.app import App, common, progress
from hindsight_core.errors import ConfigError, MemoryOff

if TYPE_CHECKING:
    from rich.console import Console

    from hindsight_core.banks.base import Bank
    from hindsight_core.banks.sqlite import SqliteBank
    from hindsight_core.cli.promoting import Promotion
    from hindsight_core.runtime import Runtime

_EMBEDDED = "sqlite"


@click.command()
@common
@click.option(
    "--to",
    "backend",
    metavar="BACKEND",
    required=True,
    help="hindsight, qdrant, or a plugin's; its settings say where it is.",
)
@click.option("--as", "name", metavar="NAME", help="Another name for the bank there.")
@click.option("--dry-run", is_flag=True, help="Say what would be carried; write nothing.")
def promote(app: App, *, backend: str, name: str | None, dry_run: bool) -> int:
    """Copy an embedded bank into a bank on a server.

    Facts go in every state, with ids, pins and provenance, and documents with their texts. What
    is there already is not written again, so an interrupted run is just repeated; where both
    differ the embedded bank wins. At the end a sample is read back: the exit code is 1 when
    something is missing. The embedded bank is only read, and stays. Sentences that were deleted
    for good here do not come back there.
    """
    return app.run(_promote(app, backend, name, dry_run=dry_run))


async def _promote(app: App, backend: str, name: str | None, *, dry_run: bool) -> int:
    from hindsight_core.cli.promoting import outlook, promote_bank

    if backend == _EMBEDDED:
        raise ConfigError("sqlite is what a bank is promoted from: choose --to hindsight or qdrant")
    async with app.runtime() as runtime:
        source = _source(runtime)
        try:
            target = _target(runtime, backend, name or source.id)
            try:
                if dry_run:
                    done = await outlook(source)
                else:
                    done = await promote_bank(source, target, progress=progress)
                    await _carry_lives(runtime, source.id, target.id)
            finally:
                await target.close()
        finally:
            await source.close()
    _report(app, source, target, done, dry_run=dry_run)
    return 1 if done.problems else 0


async def _carry_lives(runtime: Runtime, source: str, target: str) -> None:
    """How facts stand is kept here under the bank's name, whatever its backend is."""
    from hindsight_core.cli.life_lines import records_of

    if source != target and runtime.loaded.paths.state.exists():
        records = records_of(runtime)
        await records.put(target, await records.everything(source))


def _source(runtime: Runtime) -> SqliteBank:
    from hindsight_core.banks.sqlite import SqliteBank, bank_path

    path = bank_path(runtime.loaded.paths.banks, runtime.bank_id)
    if not path.exists():
        raise ConfigError(f"no embedded bank {runtime.bank_id}; `bank list` shows those there are")
    return SqliteBank(runtime.bank_id, path, clock=runtime.clock)


def _target(runtime: Runtime, backend: str, name: str) -> Bank:
    settings = runtime.settings
    if settings.bank.read_only:
        raise MemoryOff("bank.read_only is set: nothing is promoted")
    chosen = settings.bank.model_copy(update={"id": name, "backend": backend})
    renamed = settings.model_copy(update={"bank": chosen})
    return runtime.new_bank(backend, renamed)


def _report(app: App, source: Bank, target: Bank, done: Promotion, *, dry_run: bool) -> None:
    following = [] if done.problems or dry_run else _following(app, source, target)
    data: dict[str, Any] = {
        "bank": source.id,
        "to": target.backend,
        "target": target.id,
        "dry_run": dry_run,
        "facts": done.facts,
        "documents": done.documents,
        "written": done.written,
        "unchanged": 0 if dry_run else done.facts - done.written,
        "checked": done.checked,
        "problems": done.problems,
        "notes": done.notes,
        "next": following,
    }
    for problem in done.problems:
        print(f"hindsight-mem: {problem}", file=sys.stderr)

    def human(console: Console) -> None:
        for line in _lines(data):
            console.print(line, markup=False)

    app.emit(data, human)


def _lines(data: dict[str, Any]) -> list[str]:
    what = f"{data['facts']} facts and {data['documents']} documents"
    where = f"{data['target']} on {data['to']}"
    if data["dry_run"]:
        return [f"would carry {what} of {data['bank']} to {where}; nothing was written"]
    lines = [
        f"{what} of {data['bank']} are in {where}: {data['written']} written, "
        f"{data['unchanged']} were there already",
        f"{data['checked']} facts read back, {len(data['problems'])} problems",
        *data["notes"],
    ]
    if data["problems"]:
        return ["not all is there; run it again", *lines[1:]]
    if data["next"]:
        lines += ["to use it from now on:", *(f"    {command}" for command in data["next"])]
    return lines


def _following(app: App, source: Bank, target: Bank) -> list[str]:
    """Commands that make the target the bank in use; none where it is."""
    commands = []
    if app.loaded.bank.backend != target.backend:
        commands.append(f"hindsight-mem config set bank.backend {target.backend}")
    if target.id != source.id:
        commands.append(f"hindsight-mem config set --project bank.id {target.id}")
    return commands
