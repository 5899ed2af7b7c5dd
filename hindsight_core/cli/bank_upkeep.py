"""``hindsight-mem bank reindex``, ``reembed``, ``vacuum``: made anew, or given back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hindsight_core.cli.app import App, common, progress
from hindsight_core.errors import ConfigError, MemoryOff

if TYPE_CHECKING:
    from pathlib import Path

    from hindsight_core.banks.sqlite import SqliteBank
    from hindsight_core.runtime import Runtime


@click.command()
@common
def reindex(app: App) -> None:
    """Make the full-text index of an embedded bank anew from its facts."""
    app.run(_reindex(app))


async def _reindex(app: App) -> None:
    async with app.runtime() as runtime:
        bank = _embedded(runtime)
        count = await bank.rebuild_index()
        name = bank.id
    app.emit(
        {"bank": name, "indexed": count},
        lambda console: console.print(f"{count} facts of {name} indexed", markup=False),
    )


@click.command()
@common
def reembed(app: App) -> None:
    """Make the vectors that are missing, after another embedder was chosen or a bulk import.

    It may be stopped at any time, and goes on where it stopped.
    """
    app.run(_reembed(app))


async def _reembed(app: App) -> None:
    async with app.runtime() as runtime:
        bank = _embedded(runtime)
        if runtime.embedder is None:
            raise ConfigError("no embedder is configured; set embeddings.provider first")
        count = await bank.reembed(progress=lambda done: progress(f"{done} vectors"))
        state = await bank.vector_state()
        name = bank.id
    data = {"bank": name, "embedder": state.identity, "made": count, "vectors": state.current}
    text = f"{count} vectors made, {state.current} facts of {name} have one of {state.identity}"
    app.emit(data, lambda console: console.print(text, markup=False))


@click.command()
@common
def vacuum(app: App) -> None:
    """Prune what nobody needs any more and give the space back to the disk."""
    app.run(_vacuum(app))


async def _vacuum(app: App) -> None:
    from hindsight_core.state.retention import prune, vacuum

    async with app.runtime() as runtime:
        bank = _embedded(runtime)
        files = (bank.path, runtime.loaded.paths.queue, runtime.loaded.paths.state)
        await bank.ensure()
        before = sum(_size(file) for file in files)
        pruned = await prune(runtime.queue, runtime.sessions, clock=runtime.clock)
        await bank.vacuum()
        for database in (runtime.queue.database, runtime.sessions.database):
            await vacuum(database)
        name = bank.id
    after = sum(_size(file) for file in files)
    rows = pruned.receipts + pruned.windows + pruned.session_rows + pruned.reviewed
    data = {"bank": name, "before_bytes": before, "after_bytes": after, "pruned": rows}
    text = f"{name}: {rows} old rows pruned, {before:,} bytes are {after:,} now"
    app.emit(data, lambda console: console.print(text, markup=False))


def _size(file: Path) -> int:
    """Of a database with its log."""
    return sum(
        path.stat().st_size for path in (file, file.with_name(f"{file.name}-wal")) if path.exists()
    )


def _embedded(runtime: Runtime) -> SqliteBank:
    from hindsight_core.banks.sqlite import SqliteBank

    if runtime.read_only:
        raise MemoryOff("bank.read_only is set: nothing is written")
    bank = runtime.bank
    if not isinstance(bank, SqliteBank):
        raise ConfigError(f"bank {bank.id} is no embedded bank; its server keeps its own indexes")
    return bank
