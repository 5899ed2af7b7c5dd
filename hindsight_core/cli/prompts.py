"""``hindsight-mem prompts``: which template wins, copy one out, check one's own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hindsight_core.cli.app import App, common
from hindsight_core.errors import ConfigError, PromptError

if TYPE_CHECKING:
    from rich.console import Console

    from hindsight_core.prompts import Prompts

agent_option = click.option("--agent", metavar="NAME", help="As this agent sees them.")


@click.group()
def prompts() -> None:
    """Templates: list, show, copy, check."""


@prompts.command("list")
@agent_option
@common
def list_(app: App, agent: str | None) -> None:
    """Every stage, and the file that makes its prompt."""
    opened = _prompts(app, agent)
    rows = [_row(opened, name) for name in _names(opened)]
    app.emit({"prompts": rows}, lambda console: _table(console, rows))


@prompts.command()
@click.argument("stage")
@click.option("--packaged", is_flag=True, help="The shipped one, whatever overrides it.")
@agent_option
@common
def show(app: App, stage: str, packaged: bool, agent: str | None) -> None:  # noqa: FBT001
    """The template of STAGE, such as recall/judge, with its system line."""
    from hindsight_core.prompt_contexts import STAGES
    from hindsight_core.prompt_values import names

    opened = _prompts(app, agent)
    find = opened.search.find_packaged if packaged else opened.search.find
    parts = [source for name in _both(stage) if (source := find(name)) is not None]
    if not parts:
        raise _no_stage(opened, stage)
    kind = STAGES.get(_stage(stage))
    data = {
        "stage": _stage(stage),
        "variables": sorted(names(kind)) if kind is not None else [],
        "templates": [
            {"name": s.name, "origin": s.origin, "path": s.path, "text": s.read()} for s in parts
        ],
    }
    app.emit(data, lambda console: _print_templates(console, data))


@prompts.command()
@click.argument("stage")
@click.option("--user", "where", flag_value="user", default=True, help="For all projects.")
@click.option("--project", "where", flag_value="project", help="For this project.")
@click.option("--agent", metavar="NAME", help="For one agent.")
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@common
def copy(app: App, stage: str, where: str, agent: str | None, force: bool) -> None:  # noqa: FBT001
    """Copy the packaged template of STAGE out, to be changed."""
    opened = _prompts(app, None)
    stage = _stage(stage)
    if stage.startswith("core/"):
        raise PromptError(
            f"{stage} is packaged only: it keeps recalled text apart from instructions", stage=stage
        )
    found = [s for name in _both(stage) if (s := opened.search.find_packaged(name)) is not None]
    if not found:
        raise _no_stage(opened, stage)
    folder = _target(app, where, agent)
    targets = [(source, folder / source.name) for source in found]
    there = [str(path) for _, path in targets if path.exists()]
    if there and not force:
        raise ConfigError(f"{there[0]} exists; --force replaces it")
    for source, path in targets:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source.read(), encoding="utf-8")
    written = [str(path) for _, path in targets]
    if where == "project" and agent is None and not app.loaded.project.trusted:
        print("not used before `hindsight-mem trust` is run here", file=sys.stderr)
    app.emit({"stage": stage, "written": written}, lambda c: c.print("\n".join(written)))


@prompts.command()
@agent_option
@common
def check(app: App, agent: str | None) -> int:
    """Check every override; exit code 2 when one is wrong."""
    from hindsight_core.prompt_check import check as run
    from hindsight_core.prompt_check import missing
    from hindsight_core.prompt_contexts import STAGES
    from hindsight_core.prompt_layers import stage_of

    search = _prompts(app, agent).search
    problems = run(search)
    hints = [
        f"{source.path}: does not use {', '.join(lacks)}, which the packaged one does"
        for source in search.overrides()
        if (kind := STAGES.get(stage_of(source.name))) and (lacks := missing(search, source, kind))
    ]
    count = len(list(search.overrides()))
    data = {"checked": count, "problems": problems, "hints": hints}
    app.emit(data, lambda console: _print_check(console, data))
    return 2 if problems else 0


def _prompts(app: App, agent: str | None) -> Prompts:
    from hindsight_core.prompts import Prompts
    from hindsight_core.runtime import Runtime

    dirs = Runtime(app.loaded).hooks.template_dirs(app.settings)
    return Prompts.from_loaded(app.loaded, plugin_dirs=dirs, agent=agent)


def _stage(text: str) -> str:
    from hindsight_core.prompt_layers import stage_of

    return stage_of(text.strip("/"))


def _both(stage: str) -> tuple[str, str]:
    return f"{_stage(stage)}.system.j2", f"{_stage(stage)}.j2"


def _names(opened: Prompts) -> list[str]:
    own = [source.name for source in opened.search.overrides()]
    return sorted({*opened.search.packaged_names(), *own})


def _row(opened: Prompts, name: str) -> dict[str, Any]:
    found = list(opened.search.all(name))
    if not found:  # an override of core/*
        return {"template": name, "origin": None, "path": None, "shadowed": []}
    shadowed = [source.path for source in found[1:]]
    first = found[0]
    return {"template": name, "origin": first.origin, "path": first.path, "shadowed": shadowed}


def _no_stage(opened: Prompts, stage: str) -> PromptError:
    import difflib

    known = sorted({_stage(name) for name in _names(opened)})
    near = difflib.get_close_matches(_stage(stage), known, n=1)
    meant = f"Did you mean {near[0]}?" if near else "`hindsight-mem prompts list` shows them."
    return PromptError(f"there is no template for stage {stage!r}. {meant}", stage=stage)


def _target(app: App, where: str, agent: str | None) -> Path:
    if agent is not None:
        if agent in ("", ".", "..") or any(c in agent for c in "/\\\0"):
            raise ConfigError(f"{agent!r} is no agent name")
        return app.paths.agents / agent / "templates"
    if where == "user":
        return app.paths.templates
    root = app.loaded.project.checkout or app.loaded.project.root
    if root is None:
        raise ConfigError("this folder is no project; use --user, or run inside a project")
    return root / ".hindsight" / "templates"


def _table(console: Console, rows: list[dict[str, Any]]) -> None:
    from rich.table import Table

    table = Table("template", "from", "file", box=None, pad_edge=False)
    for row in rows:
        path = "" if row["origin"] == "packaged" else str(row["path"])
        table.add_row(row["template"].removesuffix(".j2"), str(row["origin"]), path)
    console.print(table)


def _print_templates(console: Console, data: dict[str, Any]) -> None:
    for template in data["templates"]:
        console.print(
            f"# {template['name']} ({template['origin']}: {template['path']})",
            style="bold",
            markup=False,
        )
        console.print(template["text"].rstrip("\n"), markup=False)
        console.print()
    if data["variables"]:
        console.print(f"variables: {', '.join(data['variables'])}", style="dim", markup=False)


def _print_check(console: Console, data: dict[str, Any]) -> None:
    for problem in data["problems"]:
        console.print(problem, style="red", markup=False)
    for hint in data["hints"]:
        console.print(hint, style="dim", markup=False)
    count = data["checked"]
    if not data["problems"]:
        console.print(f"{count} overridden template{'s' if count != 1 else ''}, all usable")
