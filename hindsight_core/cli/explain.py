"""``hindsight-mem explain``: why a fact was or was not injected in a turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hindsight_core.cli.app import App, common
from hindsight_core.errors import ConfigError, HindsightError

if TYPE_CHECKING:
    from hindsight_core.runtime import Runtime


@click.command()
@common
@click.argument("turn", required=False)
def explain(app: App, turn: str | None) -> None:
    """Explain the recall of TURN (default: the last one) from the activity log."""
    from hindsight_core.telemetry import ActivityLog

    log = ActivityLog(app.paths.logs)
    wanted = None if turn is None else (lambda entry: entry.get("turn") == turn)
    found = log.read(1, type="recall", where=wanted)
    if not found and turn is not None:
        raise ConfigError(
            f"no recall of turn {turn!r} is in the activity log (it keeps 30 days, and nothing "
            f"while log.activity is off). `hindsight-mem log --type recall` lists turns."
        )
    entry = found[0] if found else None
    if app.json:
        app.emit({"turn": entry}, lambda console: None)
        return
    if entry is None:
        click.echo("no recall is in the activity log yet")
        return
    from hindsight_core.recall.account import account, ids_without_text

    texts = app.run(_texts(app, ids_without_text(entry)))
    click.echo("\n".join(account(entry, texts)))


async def _texts(app: App, ids: list[str]) -> dict[str, str]:
    """Texts from the bank itself, where the log was told to keep none."""
    texts: dict[str, str] = {}
    if not ids:
        return texts
    async with app.runtime(read_only=True) as runtime:
        for hit_id in ids:
            bank, _, fact_id = hit_id.partition(":")
            text = await _text(runtime, bank, fact_id)
            if text is not None:
                texts[hit_id] = runtime.sanitiser.fact_text(text)
    return texts


async def _text(runtime: Runtime, bank: str, fact_id: str) -> str | None:
    try:
        fact = await runtime.open_bank(bank).get_fact(fact_id)
    except HindsightError:
        return None
    return fact.text if fact else None
