"""``hindsight-mem plugins install``, ``uninstall`` and ``new``."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hindsight_core.cli.app import App, common
from hindsight_core.errors import ConfigError

if TYPE_CHECKING:
    from rich.console import Console

    from hindsight_core.plugins.installer import Changed, Installer

OUTSIDE_FAILED = 1
CORE = "hindsight-core"


@click.command()
@click.argument("what", nargs=-1, required=True, metavar="PLUGIN...")
@click.option("--upgrade", is_flag=True, help="Take the newest version of what is installed.")
@click.option("--dry-run", is_flag=True, help="Only print the command that would be run.")
@common
def install(app: App, what: tuple[str, ...], *, upgrade: bool, dry_run: bool) -> int:
    """Install PLUGINs into the environment of hindsight-mem.

    A name, a requirement, a folder or an archive. An index of one's own is set as pip and uv are
    told: with PIP_INDEX_URL or UV_INDEX_URL, or in their configuration.
    """
    installer = _installer()
    _no_options(what)
    if dry_run:
        return _dry(app, installer.command("install", *(("--upgrade",) if upgrade else ()), *what))
    print(f"installing {' '.join(what)} ...", file=sys.stderr)
    changed = installer.install(what, upgrade=upgrade)
    rows = [row for row in installer.plugins() if row["distribution"] in changed.new]
    data = {
        "command": list(changed.command),
        "installed": [{"distribution": n, "version": changed.after[n]} for n in changed.new],
        "plugins": rows,
    }
    app.emit(data, lambda console: _print_installed(console, changed, rows, what))
    usable = all(row["status"] == "loaded" for row in rows)
    there = changed.new or all(_is_there(changed, one) for one in what)
    return 0 if usable and there else OUTSIDE_FAILED


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="PLUGIN...")
@click.option("--dry-run", is_flag=True, help="Only print the command that would be run.")
@common
def uninstall(app: App, names: tuple[str, ...], *, dry_run: bool) -> int:
    """Remove PLUGINs, by distribution or plugin name, from the environment of hindsight-mem."""
    installer = _installer()
    wanted = [_distribution(name, installer.installed()) for name in names]
    if dry_run:
        return _dry(app, installer.command("uninstall", *wanted))
    changed = installer.uninstall(wanted)
    data = {"command": list(changed.command), "uninstalled": changed.gone}
    app.emit(data, lambda console: console.print(f"uninstalled {', '.join(changed.gone)}"))
    return 0 if len(changed.gone) >= len(set(wanted)) else OUTSIDE_FAILED


@click.command()
@click.argument("kind")
@click.argument("name")
@click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(),
    help="Where the package's folder is made; here by default.",
)
@common
def new(app: App, kind: str, name: str, into: Path) -> None:
    """Begin a plugin: a package NAME of a KIND that can be tested and published as it is.

    Kinds: embedder, model, bank, decision, filter, templates, redactor, task-reader, importer,
    command.
    """
    from hindsight_core.plugins.scaffold import write_plugin

    _not_ours(app, kind, name)
    written = write_plugin(kind, name, parent=into)
    folder = written[0].parent
    data = {"folder": str(folder), "files": [str(path) for path in written]}
    app.emit(data, lambda console: _print_new(console, folder, written))


def _installer() -> Installer:
    from hindsight_core.plugins.installer import Installer

    return Installer()


def _no_options(what: Iterable[str]) -> None:
    for one in what:
        if one.startswith("-"):
            raise ConfigError(f"{one!r} is no plugin; options of pip are set in its configuration")


def _dry(app: App, command: Sequence[str]) -> int:
    import shlex

    app.emit({"command": list(command)}, lambda c: c.print(shlex.join(command), markup=False))
    return 0


def _is_there(changed: Changed, what: str) -> bool:
    """Whether a requirement or folder names a distribution that is there, with plugins in it."""
    from hindsight_core.plugins.discovery import normal

    return normal(_named(what)) in {normal(one) for one in changed.after}


def _named(what: str) -> str:
    """The distribution's name of a folder with a project, of an archive, or of a requirement."""
    import tomllib

    project = Path(what) / "pyproject.toml"
    if project.is_file():
        try:
            return str(tomllib.loads(project.read_text(encoding="utf-8"))["project"]["name"])
        except (OSError, ValueError, KeyError, TypeError):
            return what
    name = Path(what).name.partition("-")[0] if what.endswith((".whl", ".gz")) else what
    return re.split(r"[^A-Za-z0-9._-]", name, maxsplit=1)[0]


def _distribution(name: str, installed: dict[str, str]) -> str:
    """The distribution of a name; only plugins and host adapters are removed."""
    from hindsight_core.plugins.discovery import find_plugins, normal

    owners = {plugin.name: plugin.distribution for plugin in find_plugins()}
    for one in installed:
        if normal(name) == normal(one) and normal(one) != CORE:
            return one
    if name in owners:
        return owners[name]
    known = ", ".join(sorted(installed)) or "none"
    raise ConfigError(f"{name!r} is no installed plugin; installed: {known}")


def _not_ours(app: App, kind: str, name: str) -> None:
    """Refuse a name that is a built-in's: the plugin would never be used."""
    from hindsight_core.cli.main import COMMANDS
    from hindsight_core.runtime import Runtime

    registries = {
        "embedder": "embedders",
        "model": "models",
        "bank": "banks",
        "decision": "decision_backends",
        "task-reader": "task_readers",
    }
    taken: set[str] = set(COMMANDS) if kind == "command" else set()
    if kind in registries:
        registry = getattr(Runtime(app.loaded).hooks, registries[kind])
        taken = {item.name for item in registry.values() if item.distribution == CORE}
    if name in taken:
        raise ConfigError(f"{name!r} is the name of a built-in {kind}; choose another one")


def _print_installed(
    console: Console, changed: Changed, rows: list[dict[str, Any]], what: Sequence[str]
) -> None:
    for name in changed.new:
        console.print(f"installed {name} {changed.after[name]}", style="green", markup=False)
    for row in rows:
        brings = ", ".join(row["provides"] or row["hooks"])
        if row["status"] == "loaded":
            console.print(f"  {row['name']}: {brings}", markup=False)
        else:
            console.print(f"  {row['name']}: {row['reason']}", style="red", markup=False)
    for one in what if not changed.new else ():
        if _is_there(changed, one):
            console.print(f"{one} is installed already; --upgrade takes a newer one", markup=False)
        else:
            text = f"{one} is installed, and brings no plugin: it has no entry point in the group"
            console.print(f"{text} 'hindsight'", style="yellow", markup=False)


def _print_new(console: Console, folder: Path, written: Sequence[Path]) -> None:
    for path in written:
        console.print(str(path), markup=False)
    # pip takes a bare name for one of the index
    place = str(folder) if folder.is_absolute() else f"./{folder}"
    console.print(
        f"\nNext: hindsight-mem plugins install {place}\n"
        f"Its tests: python -m pip install '{place}[test]' && python -m pytest {place}",
        markup=False,
    )
