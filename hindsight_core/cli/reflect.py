"""``hindsight-mem reflect``: an answer composed from the bank."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from hindsight_core.cli.app import App, common

if TYPE_CHECKING:
    from rich.console import Console

    from hindsight_core.recall.reflect import Reflected


@click.command()
@common
@click.argument("query", nargs=-1, required=True)
def reflect(app: App, query: tuple[str, ...]) -> int:
    """Answer a question from the bank; without a model the facts are listed."""
    answer = app.run(_reflect(app, " ".join(query)))
    data = {
        "outcome": answer.outcome,
        "text": answer.text,
        "facts": list(answer.fact_ids),
        "reason": answer.reason,
    }
    if answer.outcome == "failed":
        print(f"hindsight-mem: {answer.text}", file=sys.stderr)
        if app.json:
            app.emit(data, _nothing)
        return 1
    app.emit(data, lambda console: _show(console, answer))
    return 0


async def _reflect(app: App, query: str) -> Reflected:
    from hindsight_core.budget import work
    from hindsight_core.recall.reflect import reflect as compose

    async with app.runtime(read_only=True) as runtime:
        with work(explicit=True):
            return await compose(runtime.bank, runtime.stages, query, sanitiser=runtime.sanitiser)


def _show(console: Console, answer: Reflected) -> None:
    console.print(answer.text, markup=False)
    if answer.outcome == "degraded":
        console.print(f"degraded: {answer.reason}", markup=False, style="dim")


def _nothing(console: Console) -> None:
    """What is said stands on stderr."""
