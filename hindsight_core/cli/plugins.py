"""``hindsight-mem plugins``: what is installed, broken or shadowed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hindsight_core.cli.app import App, common

if TYPE_CHECKING:
    from rich.console import Console

    from hindsight_core.plugins import Hooks

STYLE = {"loaded": "green", "broken": "red", "shadowed": "yellow"}


@click.group(invoke_without_command=True)
@common
@click.pass_context
def plugins(context: click.Context, app: App) -> None:
    """Plugins in this environment: installed, broken or shadowed."""
    if context.invoked_subcommand is None:
        _list(app)


@plugins.command("list")
@common
def list_(app: App) -> None:
    """The same as ``hindsight-mem plugins``."""
    _list(app)


def _list(app: App) -> None:
    from hindsight_core.plugins import installed_hosts
    from hindsight_core.runtime import Runtime

    hooks = Runtime(app.loaded).hooks
    data = {
        "plugins": _rows(hooks),
        "hosts": installed_hosts(),
        "problems": hooks.problems,
    }
    app.emit(data, lambda console: _print(console, data))


def _rows(hooks: Hooks) -> list[dict[str, Any]]:
    return [
        {
            "name": plugin.name,
            "distribution": plugin.distribution,
            "version": plugin.version,
            "status": plugin.status,
            "reason": plugin.reason,
            "hooks": list(plugin.hooks),
            "provides": list(plugin.provides),
        }
        for plugin in sorted(hooks.plugins, key=lambda p: (p.distribution, p.name))
        if not plugin.builtin
    ]


def _print(console: Console, data: dict[str, Any]) -> None:
    from rich.table import Table

    if data["plugins"]:
        table = Table("distribution", "version", "plugin", "status", "hooks", box=None)
        for row in data["plugins"]:
            hooks = ", ".join(hook.removeprefix("hindsight_") for hook in row["hooks"])
            status = f"[{STYLE.get(row['status'], 'dim')}]{row['status']}[/]"
            table.add_row(row["distribution"], row["version"], row["name"], status, hooks)
        console.print(table)
    else:
        console.print("no plugins are installed")
    console.print(f"host adapters: {', '.join(data['hosts']) or 'none'}", markup=False)
    for problem in data["problems"]:
        console.print(problem, style="red", markup=False)
