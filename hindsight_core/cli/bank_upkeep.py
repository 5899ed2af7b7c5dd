"""``hindsight-mem bank reindex`` and ``reembed``: what is derived from facts, made anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hindsight_core.cli.app import App, common, progress
from hindsight_core.errors import ConfigError, MemoryOff

if TYPE_CHECKING:
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


def _embedded(runtime: Runtime) -> SqliteBank:
    from hindsight_core.banks.sqlite import SqliteBank

    if runtime.read_only:
        raise MemoryOff("bank.read_only is set: nothing is written")
    bank = runtime.bank
    if not isinstance(bank, SqliteBank):
        raise ConfigError(f"bank {bank.id} is no embedded bank; its server keeps its own indexes")
    return bank
