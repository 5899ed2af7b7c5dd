"""``hindsight-mem facts verify``: facts that name files which are gone, or different since."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hindsight_core.banks.records import listed
from hindsight_core.cli.app import App, common, progress
from hindsight_core.errors import BankError, ConfigError, MemoryOff

if TYPE_CHECKING:
    from rich.console import Console

    from hindsight_core.banks.base import Bank
    from hindsight_core.memory import Fact
    from hindsight_core.runtime import Runtime
    from hindsight_core.worktree.freshness import Freshness

_SHOWN = 50
Doubtful = list[tuple["Fact", "Freshness"]]


@click.command()
@common
@click.option("--missing", "only_missing", is_flag=True, help="Only facts whose files are gone.")
@click.option("--invalidate", is_flag=True, help="Ask of each whether to retire it.")
@click.option("--yes", is_flag=True, help="Retire those whose files are gone without asking.")
def verify(app: App, *, only_missing: bool, invalidate: bool, yes: bool) -> None:
    """Compare facts with the files of this checkout.

    Listed are valid facts that name a file which is gone, or has changed since they were said.
    With --invalidate each of them may be retired; `facts restore` takes that back.
    """
    app.run(_verify(app, only_missing=only_missing, invalidate=invalidate, yes=yes))


async def _verify(app: App, *, only_missing: bool, invalidate: bool, yes: bool) -> None:
    from hindsight_core.worktree.whole import verify as compare

    checkout = app.loaded.project.checkout
    if checkout is None or not checkout.is_dir():
        raise ConfigError(f"{Path.cwd()} is no project; run this inside a checkout")
    if invalidate and not yes and not sys.stdin.isatty():
        raise ConfigError("there is no terminal to ask on: add --yes to retire what is gone")
    async with app.runtime(read_only=not invalidate) as runtime:
        _check_writable(runtime, wanted=invalidate)
        facts = [fact async for fact in runtime.bank.export_facts() if fact.state == "valid"]
        progress(f"{len(facts)} facts are compared with {checkout}")
        found = compare(facts, checkout)
        progress("")
        doubtful = [
            (fact, found[fact.id])
            for fact in facts
            if fact.id in found and (found[fact.id].missing or not only_missing)
        ]
        retired = await _retire(runtime.bank, doubtful, yes=yes) if invalidate else []
        _tell(app, doubtful, retired, bank=runtime.bank_id, checked=len(facts))


def _check_writable(runtime: Runtime, *, wanted: bool) -> None:
    if wanted and runtime.read_only:
        raise MemoryOff("bank.read_only is set: facts are not changed")


async def _retire(bank: Bank, doubtful: Doubtful, *, yes: bool) -> list[str]:
    retired: list[str] = []
    for fact, seen in doubtful:
        if yes:
            wanted = bool(seen.missing)
        else:
            click.echo(f"{fact.text}\n  {_why(seen)}", err=True)
            answer = click.prompt(
                "Retire it?", type=click.Choice(["y", "n", "q"]), default="n", err=True
            )
            if answer == "q":
                break
            wanted = answer == "y"
        if not wanted:
            continue
        try:
            await bank.set_state(fact.id, "invalidated", reason=_why(seen))
        except BankError as error:
            if error.retryable:
                raise
            print(f"hindsight-mem: {error}", file=sys.stderr)
        else:
            retired.append(fact.id)
    return retired


def _why(seen: Freshness) -> str:
    parts = [f"{path} is gone" for path in seen.missing]
    parts += [f"{path} has changed since" for path in seen.changed]
    return ", ".join(parts)


def _tell(app: App, doubtful: Doubtful, retired: list[str], *, bank: str, checked: int) -> None:
    rows: list[dict[str, Any]] = [
        {
            **listed(fact, bank=bank),
            "missing": list(seen.missing),
            "changed": list(seen.changed),
            "commit": fact.provenance.commit,
            "branch": fact.provenance.branch,
        }
        for fact, seen in doubtful
    ]
    gone = {f"{bank}:{fact_id}" for fact_id in retired}
    data = {"facts": rows, "total": len(rows), "checked": checked, "retired": sorted(gone)}

    def human(console: Console) -> None:
        for row, (_, seen) in list(zip(rows, doubtful, strict=True))[:_SHOWN]:
            mark = " (retired)" if row["id"] in gone else ""
            console.print(f"{row['id']}{mark}  {row['text']}\n  {_why(seen)}", markup=False)
        if len(rows) > _SHOWN:
            console.print(f"and {len(rows) - _SHOWN} more; --json prints all", style="dim")
        console.print(f"{len(rows)} of {checked} facts no longer fit", markup=False, style="dim")

    app.emit(data, human)
