"""``hindsight-mem plugins``: what is installed, broken or shadowed; install, remove, begin one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from hindsight_core.cli.app import App, common
from hindsight_core.cli.plugin_kit import install, new, uninstall

if TYPE_CHECKING:
    from rich.console import Console

    from hindsight_core.plugins import Hooks
    from hindsight_core.plugins.plugin import Plugin

STYLE = {"loaded": "green", "broken": "red", "shadowed": "yellow"}


@click.group(invoke_without_command=True)
@common
@click.pass_context
def plugins(context: click.Context, app: App) -> None:
    """Plugins in this environment: list, install, uninstall, new."""
    if context.invoked_subcommand is None:
        _list(app)


@plugins.command("list")
@common
def list_(app: App) -> None:
    """The same as ``hindsight-mem plugins``."""
    _list(app)


for command in (install, uninstall, new):
    plugins.add_command(command)


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
    from hindsight_core.plugins.registries import KINDS

    lost = {plugin.label: _shadowed(hooks, plugin, KINDS) for plugin in hooks.plugins}
    return [
        {
            "name": plugin.name,
            "distribution": plugin.distribution,
            "version": plugin.version,
            "status": plugin.status,
            "reason": plugin.reason,
            "hooks": list(plugin.hooks),
            "provides": [item for item in plugin.provides if item not in lost[plugin.label]],
            "shadowed": sorted(lost[plugin.label]),
        }
        for plugin in sorted(hooks.plugins, key=lambda p: (p.distribution, p.name))
        if not plugin.builtin
    ]


def _shadowed(hooks: Hooks, plugin: Plugin, kinds: Iterable[str]) -> set[str]:
    """Registered names that the plugin lost to a built-in or disputes with another one."""
    return {
        f"{kind}: {item.name}"
        for kind in kinds
        for item in getattr(hooks, kind).shadowed
        if (item.distribution, item.plugin) == (plugin.distribution, plugin.name)
    }


def _print(console: Console, data: dict[str, Any]) -> None:
    from rich.table import Table

    if data["plugins"]:
        table = Table("distribution", "version", "plugin", "status", "hooks", box=None)
        for row in data["plugins"]:
            hooks = ", ".join(hook.removeprefix("hindsight_") for hook in row["hooks"])
            status = f"[{STYLE.get(row['status'], 'dim')}]{row['status']}[/]"
            if row["shadowed"]:
                status += f"\n[yellow]shadowed: {', '.join(row['shadowed'])}[/]"
            table.add_row(row["distribution"], row["version"], row["name"], status, hooks)
        console.print(table)
    else:
        console.print("no plugins are installed")
    console.print(f"host adapters: {', '.join(data['hosts']) or 'none'}", markup=False)
    for problem in data["problems"]:
        console.print(problem, style="red", markup=False)
