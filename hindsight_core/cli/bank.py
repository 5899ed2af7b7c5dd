"""``hindsight-mem bank``: look at banks, move facts in and out, delete or promote a bank."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hindsight_core.cli.app import App, common, confirm, not_blank
from hindsight_core.cli.bank_upkeep import reembed, reindex, vacuum
from hindsight_core.cli.exporting import export
from hindsight_core.cli.promote import promote
from hindsight_core.cli.sync import sync
from hindsight_core.errors import ConfigError, MemoryOff

if TYPE_CHECKING:
    from rich.console import Console

    from hindsight_core.memory import BankStats

_NAME = click.argument("name", required=False, callback=not_blank)


@click.group()
def bank() -> None:
    """Banks: list, show, stats, delete, export, import, sync, promote, reindex, reembed, vacuum."""


bank.add_command(export)
bank.add_command(promote)
bank.add_command(sync)
bank.add_command(reindex)
bank.add_command(reembed)
bank.add_command(vacuum)


@bank.command("list")
@common
def list_(app: App) -> None:
    """Every embedded bank on this machine, and the project's bank."""
    app.run(_list(app))


async def _list(app: App) -> None:
    from hindsight_core.banks.sqlite import SqliteBank, bank_path, list_banks

    folder, rows = app.paths.banks, []
    for name in list_banks(folder):
        opened = SqliteBank(name, bank_path(folder, name))
        try:
            rows.append({"id": name, "backend": "sqlite", **_counts(await opened.stats())})
        finally:
            await opened.close()
    current = app.loaded.bank.id
    app.emit({"banks": rows, "current": current}, lambda console: _table(console, rows, current))


@bank.command()
@common
@_NAME
def show(app: App, name: str | None) -> None:
    """One bank: which it is and why, where it lives, how much it holds."""
    app.run(_show(_named(app, name)))


@bank.command()
@common
@_NAME
def stats(app: App, name: str | None) -> None:
    """Counts of documents and of facts by state."""
    app.run(_show(_named(app, name), only_counts=True))


async def _show(app: App, *, only_counts: bool = False) -> None:
    async with app.runtime(read_only=True) as runtime:
        held = runtime.bank
        data: dict[str, Any] = {"id": held.id, "backend": held.backend}
        if not only_counts:
            data["reason"] = app.loaded.bank.reason
            data["path"] = str(getattr(held, "path", "")) or None
        data.update(_counts(await held.stats()))

    def human(console: Console) -> None:
        for key, value in data.items():
            shown = ", ".join(f"{n} {k}" for k, n in value.items()) if key == "states" else value
            console.print(f"{key:10} {shown if shown not in ('', None) else '-'}", markup=False)

    app.emit(data, human)


@bank.command()
@common
@_NAME
@click.option("--yes", is_flag=True, help="Do not ask; needed without a terminal.")
def delete(app: App, name: str | None, yes: bool) -> None:  # noqa: FBT001
    """Delete an embedded bank with everything in it."""
    from hindsight_core.banks.sqlite import bank_path

    chosen = _named(app, name).loaded.bank
    if chosen.id is None:
        raise ConfigError(f"{chosen.reason}. Name the bank to delete.")
    if app.settings.bank.read_only:
        raise MemoryOff("bank.read_only is set: no bank is deleted")
    path = bank_path(app.paths.banks, chosen.id)
    if not path.exists():
        raise ConfigError(f"no embedded bank {chosen.id}; `bank list` shows those there are")
    confirm(f"Delete the bank {chosen.id} and all its facts?", yes=yes)
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    app.run(_forget(app, chosen.id))
    app.emit(
        {"deleted": chosen.id},
        lambda console: console.print(f"deleted {chosen.id}", markup=False),
    )


async def _forget(app: App, bank_id: str) -> None:
    """What the queue still knows of a deleted bank would count as stored."""
    from hindsight_core.state.retention import forget_bank

    if not (app.paths.queue.exists() or app.paths.state.exists()):
        return
    async with app.runtime() as runtime:
        await forget_bank(runtime.queue, runtime.sessions, bank_id)


@bank.command("import")
@common
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
def import_(app: App, file: Path) -> int:
    """Read a JSONL FILE (- for standard input): an export, or one fact a line.

    Good lines are stored even when others are not; bad ones are named by number, and the exit
    code is 2 then. A fact whose id is there already is replaced. A file of a newer version is
    refused as a whole.
    """
    from hindsight_core.cli.importing import import_file

    return app.run(import_file(app, file))


def _named(app: App, name: str | None) -> App:
    if name and app.bank_name and name != app.bank_name:
        raise ConfigError(f"two banks are named: {name} and {app.bank_name}")
    app.bank_name = name or app.bank_name
    return app


def _counts(found: BankStats) -> dict[str, Any]:
    return {
        "documents": found.documents,
        "facts": found.facts,
        "states": dict(found.states),
        "bytes": found.bytes,
    }


def _table(console: Console, rows: list[dict[str, Any]], current: str | None) -> None:
    if not rows:
        console.print("no banks yet")
        return
    from rich.table import Table

    table = Table("bank", "facts", "documents", "size", box=None, pad_edge=False)
    for row in rows:
        mark = " *" if row["id"] == current else ""
        size = f"{(row['bytes'] or 0) / 1_000_000:.1f} MB"
        table.add_row(f"{row['id']}{mark}", str(row["facts"]), str(row["documents"]), size)
    console.print(table)
    if current:
        console.print(f"* this project's bank: {current}", markup=False, style="dim")
