"""``hindsight-mem install`` and ``uninstall``: a host's wiring, written once and reversibly."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hindsight_core.cli.app import App, common
from hindsight_core.cli.changes import diff, write_all
from hindsight_core.errors import ConfigError, PluginError
from hindsight_core.host import DetectableHost, Host, InstallPlan, InstallRequest, program

if TYPE_CHECKING:
    from rich.console import Console

ALL = "all"
LEFT_BEHIND = "what the replaced plugin has behind it is taken over by `hindsight-mem import state`"
NOBODY = "no agent was found on this machine; name one: "
Planned = dict[str, InstallPlan]


def _options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--dry-run", is_flag=True, help="Show what would change, change nothing."),
        click.option("--project", is_flag=True, help="The host's configuration of this project."),
    ):
        command = option(command)
    return command


@click.command()
@common
@click.argument("host", metavar="HOST|all")
@_options
@click.option("--opt-in", is_flag=True, help="Memory stays off in projects that declare no bank.")
@click.option("--replace", is_flag=True, help="Take out an original plugin that is installed.")
def install(
    app: App, host: str, *, dry_run: bool, project: bool, opt_in: bool, replace: bool
) -> None:
    """Wire memory into a host, or into all that are found. Doing it twice changes nothing."""
    names = detected_hosts() if host == ALL else [host]
    plans, problems = _planned(
        names,
        lambda name: host_named(name).install(
            request_for(app, name, project=project, replace=replace)
        ),
    )
    _carry_out(plans, dry_run=dry_run)
    migrant = any(plan.migrant for plan in plans.values())
    notes = []
    if plans:
        notes += _activate(app, dry_run=dry_run, opt_in=opt_in or migrant)
        notes += [LEFT_BEHIND] if migrant else []
    elif not problems:
        notes.append(NOBODY + ", ".join(_known()))
    _show(app, plans, dry_run=dry_run, notes=notes)
    _refuse(problems)


@click.command()
@common
@click.argument("host", metavar="HOST|all")
@_options
def uninstall(app: App, host: str, *, dry_run: bool, project: bool) -> None:
    """Take memory's wiring out of a host, or of all; everything foreign stays as it is."""
    plans, problems = _planned(
        _known() if host == ALL else [host],
        lambda name: host_named(name).uninstall(request_for(app, name, project=project)),
    )
    _carry_out(plans, dry_run=dry_run)
    _show(app, plans, dry_run=dry_run, notes=[])
    _refuse(problems)


def host_named(name: str) -> Host:
    """The installed host of that name; raises `ConfigError` when there is none."""
    from hindsight_core.plugins import load_host

    host: Host = load_host(name)
    return host


def detected_hosts() -> list[str]:
    """Hosts whose program is on this machine."""
    import shutil

    found = []
    for name in _known():
        try:
            host = host_named(name)
        except PluginError:
            continue
        if isinstance(host, DetectableHost):
            there = host.detected(os.environ) is not None
        else:
            there = shutil.which(name) is not None
        if there:
            found.append(name)
    return found


def request_for(
    app: App, host: str, *, project: bool = False, replace: bool = False
) -> InstallRequest:
    """Where and how a host is wired from this installation."""
    from hindsight_core.cli.companion import companion

    moved = os.environ.get("HINDSIGHT_MEM_HOME", "").strip()
    return InstallRequest(
        env=os.environ,
        shims=app.paths.shims / host,
        command=(*program(), "bridge", "--host", host),
        bridge_env={"HINDSIGHT_MEM_HOME": str(app.paths.home)} if moved else {},
        project=Path.cwd() if project else None,
        replace=replace,
        skill=lambda server: companion("hosts/generic/skill", server=server),
    )


def _known() -> list[str]:
    from hindsight_core.plugins import installed_hosts

    return installed_hosts()


def _planned(
    names: Iterable[str], plan: Callable[[str], InstallPlan]
) -> tuple[Planned, list[ConfigError | PluginError]]:
    """The plans that can be made; one host's broken file is no reason to leave out the others."""
    plans: Planned = {}
    problems: list[ConfigError | PluginError] = []
    for name in names:
        try:
            plans[name] = plan(name)
        except (ConfigError, PluginError) as error:
            problems.append(error)
    return plans, problems


def _carry_out(plans: Planned, *, dry_run: bool) -> None:
    if not dry_run:
        for plan in plans.values():
            write_all(plan)


def _show(app: App, plans: Planned, *, dry_run: bool, notes: list[str]) -> None:
    changes = [str(change.path) for plan in plans.values() for change in plan.changes]
    said = [note for plan in plans.values() for note in plan.notes]
    text = "".join(map(diff, plans.values())) if dry_run else ""
    data = {
        "hosts": list(plans),
        "changes": changes,
        "notes": [*said, *notes],
        "dryRun": dry_run,
        **({"diff": text} if dry_run else {}),
    }
    app.emit(data, partial(_print, plans=plans, text=text, notes=notes))


def _print(console: Console, *, plans: Planned, text: str, notes: list[str]) -> None:
    if text:
        click.echo(text, nl=False)
    verb = "would change" if text else "changed"
    for name, plan in plans.items():
        label = f"{name}: " if len(plans) > 1 else ""
        for change in plan.changes:
            console.print(f"{label}{verb} {change.path}", markup=False)
        if not plan.changes:
            console.print(f"{label}nothing to change")
        for note in plan.notes:
            console.print(f"{label}{note}", markup=False)
    for note in notes:
        console.print(note, markup=False)


def _refuse(problems: list[ConfigError | PluginError]) -> None:
    if len(problems) == 1:
        raise problems[0]
    if problems:
        raise ConfigError("\n".join(map(str, problems)))


def _activate(app: App, *, dry_run: bool, opt_in: bool) -> list[str]:
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
        return []
    if dry_run:
        return [f'would set bank.id = "auto" in {app.paths.config}']
    patch(app.paths.config, {"bank.id": "auto"})
    return [f'set bank.id = "auto" in {app.paths.config}: each project has its own bank']
