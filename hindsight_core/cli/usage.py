"""``hindsight-mem usage``: model calls and tokens by stage and day."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

import click

from hindsight_core.cli.app import App, common

if TYPE_CHECKING:
    from rich.console import Console

    from hindsight_core.state.usage import UsageRow

_NUMBERS = ("calls", "input_tokens", "output_tokens")
Sums = dict[str, int]


@click.command()
@click.option("--days", type=click.IntRange(1, 3650), default=30, show_default=True)
@common
def usage(app: App, days: int) -> None:
    """Show model calls and tokens by stage and day (UTC)."""
    since = datetime.now(UTC).date() - timedelta(days=days - 1)
    rows = app.run(_rows(app, since))
    by_day: dict[tuple[str, str], Sums] = {}
    by_stage: dict[str, Sums] = {}
    total: Sums = dict.fromkeys(_NUMBERS, 0)
    for row in rows:
        for sums in (
            by_day.setdefault((row.day, row.stage), dict.fromkeys(_NUMBERS, 0)),
            by_stage.setdefault(row.stage, dict.fromkeys(_NUMBERS, 0)),
            total,
        ):
            for name in _NUMBERS:
                sums[name] += getattr(row, name)
    data = {
        "since": since.isoformat(),
        "rows": [{"day": day, "stage": stage, **s} for (day, stage), s in sorted(by_day.items())],
        "stages": {stage: sums for stage, sums in sorted(by_stage.items())},
        "total": total,
    }
    app.emit(data, lambda console: _print(console, data["rows"], total))  # type: ignore[arg-type]


async def _rows(app: App, since: date) -> list[UsageRow]:
    from hindsight_core.state.usage import UsageStore

    if not app.paths.state.exists():
        return []
    store = UsageStore(app.paths.state)
    try:
        return await store.rows(since)
    finally:
        store.close()


def _print(console: Console, rows: list[dict[str, str | int]], total: Sums) -> None:
    from rich.table import Table

    if not rows:
        console.print("no model was called")
        return
    table = Table("day", "stage", box=None, pad_edge=False)
    for name in _NUMBERS:
        table.add_column(name.replace("_", " "), justify="right")
    for row in rows:
        table.add_row(*(str(row[key]) for key in ("day", "stage", *_NUMBERS)))
    table.add_row("total", "", *(str(total[name]) for name in _NUMBERS), style="bold")
    console.print(table)
