"""``hindsight-mem config``: effective values and their origins, change one, check all."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hindsight_core.cli.app import App, common

if TYPE_CHECKING:
    from rich.console import Console

    from hindsight_core.config.layers import Loaded

PROBLEMS = 2


@click.group()
def config() -> None:
    """Effective values and where each came from."""


@config.command()
@common
@click.option("--origin", "with_origin", is_flag=True, help="Say where each value came from.")
@click.option("--agent", metavar="NAME", help="With that agent's block.")
@click.option("--host", metavar="NAME", help="As that host would see it.")
@click.argument("keys", nargs=-1)
def show(
    app: App, *, with_origin: bool, agent: str | None, host: str | None, keys: tuple[str, ...]
) -> None:
    """Print the effective values, of all KEYS or of the sections and keys named."""
    from hindsight_core.config.show import rows

    loaded = _load(app, host=host, agent=agent)
    table = {path: row for path, row in rows(loaded).items() if _wanted(path, keys)}
    if not with_origin:
        table = {path: {"value": row["value"]} for path, row in table.items()}
    bank = {name: getattr(loaded.bank, name) for name in ("id", "backend", "declared", "reason")}
    data = {"settings": table, "bank": bank, "off": loaded.off, "warnings": list(loaded.warnings)}
    data["files"] = [str(path) for path in loaded.files]
    app.emit(data, lambda console: _print(console, table, data))


def _load(app: App, *, host: str | None = None, agent: str | None = None) -> Loaded:
    """The configuration with what plugins add to it, so that their keys are known."""
    from hindsight_core.config.contributed import contributions
    from hindsight_core.config.layers import load
    from hindsight_core.plugins import load_hooks

    overrides = {"bank": {"id": app.bank_name}} if app.bank_name else None
    added = contributions(load_hooks(env=os.environ))
    return load(cwd=Path.cwd(), host=host, agent=agent, overrides=overrides, claim=False, **added)


def _wanted(path: str, keys: tuple[str, ...]) -> bool:
    return not keys or any(path == key or path.startswith(f"{key}.") for key in keys)


def _print(console: Console, table: dict[str, dict[str, Any]], data: dict[str, Any]) -> None:
    from rich.markup import escape

    for path, row in table.items():
        value = json.dumps(row["value"], ensure_ascii=False)
        origin = f"  [dim]({escape(row['origin'])})[/dim]" if "origin" in row else ""
        console.print(f"{path} = {escape(value)}{origin}")
    console.print(f"\n{escape(data['bank']['reason'])}")
    for warning in data["warnings"]:
        console.print(f"[yellow]{escape(warning)}[/yellow]")


@config.command(name="set")
@common
@click.option("--project", is_flag=True, help="In the project's file instead of your own.")
@click.argument("key")
@click.argument("value")
def set_(app: App, *, project: bool, key: str, value: str) -> None:
    """Set KEY to VALUE (a list is comma-separated, a table is JSON)."""
    from hindsight_core.config.change import change, project_file, user_file
    from hindsight_core.config.show import shown
    from hindsight_core.config.trusting import keep_trust

    loaded = _load(app)
    path = project_file(loaded) if project else user_file(loaded)
    with keep_trust(loaded):
        name, written = change(path, key, value, project=project, settings=loaded.settings)
    data = {"key": name, "value": shown(name, written), "file": str(path)}
    text = f"{name} = {json.dumps(data['value'], ensure_ascii=False)} in {path}"
    if project and not loaded.project.trusted:
        text += "\nThe project is not trusted yet: run `hindsight-mem trust` to let it count."
    app.emit(data, lambda console: console.print(text, markup=False))


@config.command()
@common
def check(app: App) -> int:
    """Name everything that is wrong with the configuration; exit code 2 when anything is."""
    from hindsight_core.configure import plugins_of, unprovided

    loaded = _load(app)
    problems = [*loaded.warnings, *unprovided(loaded, plugins_of(loaded, env=os.environ))]
    files = [str(path) for path in loaded.files]

    def human(console: Console) -> None:
        for problem in problems:
            console.print(problem, markup=False)
        if not problems:
            console.print(f"no problems ({len(files)} files read)", markup=False)

    app.emit({"problems": problems, "files": files}, human)
    return PROBLEMS if problems else 0
