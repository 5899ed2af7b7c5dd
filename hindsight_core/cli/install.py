"""``hindsight-mem install`` and ``uninstall``: a host's wiring, written once and reversibly."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hindsight_core.cli.app import App, common
from hindsight_core.errors import StorageError
from hindsight_core.host import Change, Host, InstallPlan, InstallRequest

if TYPE_CHECKING:
    from rich.console import Console

BACKUP = ".hindsight-backup"


def _options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--dry-run", is_flag=True, help="Show what would change, change nothing."),
        click.option("--project", is_flag=True, help="The host's configuration of this project."),
    ):
        command = option(command)
    return command


@click.command()
@common
@click.argument("host", metavar="HOST")
@_options
@click.option("--opt-in", is_flag=True, help="Memory stays off in projects that declare no bank.")
@click.option("--replace", is_flag=True, help="Take out an original plugin that is installed.")
def install(
    app: App, host: str, *, dry_run: bool, project: bool, opt_in: bool, replace: bool
) -> None:
    """Wire memory into a host. Doing it twice changes nothing."""
    target = host_named(host)
    plan = target.install(request_for(app, host, project=project, replace=replace))
    _carry_out(app, plan, dry_run=dry_run)
    _activate(app, dry_run=dry_run, opt_in=opt_in or plan.migrant)


@click.command()
@common
@click.argument("host", metavar="HOST")
@_options
def uninstall(app: App, host: str, *, dry_run: bool, project: bool) -> None:
    """Take memory's wiring out of a host; everything foreign stays as it is."""
    plan = host_named(host).uninstall(request_for(app, host, project=project, replace=False))
    _carry_out(app, plan, dry_run=dry_run)


def host_named(name: str) -> Host:
    """The installed host of that name; raises `ConfigError` when there is none."""
    from hindsight_core.plugins import load_host

    host: Host = load_host(name)
    return host


def request_for(
    app: App, host: str, *, project: bool = False, replace: bool = False
) -> InstallRequest:
    """Where and how a host is wired from this installation."""
    home = os.environ.get("HINDSIGHT_MEM_HOME")
    return InstallRequest(
        env=os.environ,
        shims=app.paths.shims / host,
        command=(sys.executable, "-m", "hindsight_core", "bridge", "--host", host),
        bridge_env={"HINDSIGHT_MEM_HOME": home} if home else {},
        project=Path.cwd() if project else None,
        replace=replace,
    )


def _carry_out(app: App, plan: InstallPlan, *, dry_run: bool) -> None:
    for change in plan.changes:
        if dry_run:
            click.echo(_diff(change), nl=False)
        else:
            _write(change)
    verb = "would change" if dry_run else "changed"
    data = {
        "changes": [str(change.path) for change in plan.changes],
        "notes": list(plan.notes),
        "dryRun": dry_run,
    }

    def human(console: Console) -> None:
        for change in plan.changes:
            console.print(f"{verb} {change.path}", markup=False)
        if not plan.changes:
            console.print("nothing to change")
        for note in plan.notes:
            console.print(note, markup=False)

    app.emit(data, human)


def _write(change: Change) -> None:
    path = change.path
    try:
        if change.after is None:
            path.unlink(missing_ok=True)
            if change.ours and path.parent.is_dir() and not any(path.parent.iterdir()):
                path.parent.rmdir()
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        backup = path.with_name(path.name + BACKUP)
        if change.before is not None and not change.ours and not backup.exists():
            backup.write_text(change.before, encoding="utf-8")
        # Written beside it and moved over it: a full disk never leaves half a file.
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
        beside = path.with_name(f".{path.name}.hindsight-new")
        beside.write_text(change.after, encoding="utf-8")
        beside.chmod(mode)
        beside.replace(path)
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror or error}") from error


def _activate(app: App, *, dry_run: bool, opt_in: bool) -> None:
    """After ``install`` every project has its bank, unless the user opted otherwise."""
    from hindsight_core.config.files import patch, read_table
    from hindsight_core.config.places import user_sources

    # A migrant's own file decides where memory is active, as it did before.
    migrant = any(
        source.found() for source in user_sources(app.paths, os.environ, None) if not source.own
    )
    table = read_table(app.paths.config) or {}
    declared = isinstance(table.get("bank"), dict) and "id" in table["bank"]
    if opt_in or declared or migrant:
        return
    if dry_run:
        click.echo(f'would set bank.id = "auto" in {app.paths.config}')
        return
    patch(app.paths.config, {"bank.id": "auto"})


def _diff(change: Change) -> str:
    name = str(change.path)
    lines = difflib.unified_diff(
        (change.before or "").splitlines(keepends=True),
        (change.after or "").splitlines(keepends=True),
        fromfile=name if change.before is not None else "/dev/null",
        tofile=name if change.after is not None else "/dev/null",
    )
    return "".join(line if line.endswith("\n") else line + "\n" for line in lines)
