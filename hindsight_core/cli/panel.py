"""``hindsight-mem panel``: the panel in this terminal."""

from __future__ import annotations

import sys
from functools import partial

import click

from hindsight_core.cli.app import App, common
from hindsight_core.errors import ConfigError


@click.command()
@common
@click.option("--hub", is_flag=True, help="With the write queue and receipts, and opened there.")
def panel(app: App, hub: bool) -> None:  # noqa: FBT001 - click passes it by name
    """Look at memory and change it: status, settings, review, log, facts."""
    if app.json:
        raise ConfigError("panel draws a screen; use `config show`, `facts list`, `log` --json")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise ConfigError("panel needs a terminal on stdin and stdout")
    app.run(_panel(app, hub=hub))


async def _panel(app: App, *, hub: bool) -> None:
    from hindsight_core.panel.book import make_tabs
    from hindsight_core.panel.panel import Panel
    from hindsight_core.panel.terminal import run, whole_screen
    from hindsight_core.panel.view import PanelView

    async with app.runtime() as runtime:
        loaded = app.loaded
        state = "off" if loaded.off else "active" if loaded.bank.id else "dormant"
        view = PanelView(
            loaded=loaded,
            state=state,
            reason=loaded.off or loaded.bank.reason,
            runtime=runtime if state == "active" else None,
            reload=app.reload,
            hub=hub,
        )
        shown = Panel(
            partial(make_tabs, view),
            changed=lambda: None,
            rows=whole_screen,
            first="Hub" if hub else "",
        )
        await run(shown, edit=lambda text: click.edit(text))
