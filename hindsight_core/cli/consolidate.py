"""``hindsight-mem consolidate``: let one memory stand for two that are alike."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from hindsight_core.cli.app import App, common
from hindsight_core.errors import BankError, ConfigError

if TYPE_CHECKING:
    from rich.console import Console

    from hindsight_core.memorize.consolidate.consolidation import Proposal

_CHOICES = "[c]ombine, [e]dit, [s]kip, [q]uit"


@click.command()
@common
@click.option("--dry-run", is_flag=True, help="Show the pairs and change nothing.")
@click.option("--yes", is_flag=True, help="Combine every pair with a sentence that may stand.")
def consolidate(app: App, dry_run: bool, yes: bool) -> None:  # noqa: FBT001
    """Show pairs of memories that are alike, and combine those that you agree to.

    Only memories of one scope, kind, project and origin are shown together. What is combined is
    kept as superseded: `facts restore` brings it back.
    """
    if not (dry_run or yes or sys.stdin.isatty()):
        raise ConfigError("there is no terminal to ask on: add --dry-run or --yes")
    app.run(_consolidate(app, dry_run=dry_run, yes=yes))


async def _consolidate(app: App, *, dry_run: bool, yes: bool) -> None:
    async with app.runtime() as runtime:
        active = runtime.active
        rows: list[dict[str, Any]] = []
        left = False
        for proposal in await active.propose():
            row = _row(proposal, bank=runtime.bank_id)
            rows.append(row)
            text = None if dry_run or left else _decide(proposal, yes=yes)
            left = left or (text is None and not dry_run and not yes)
            row["decision"] = "skipped" if text == "" else "left"
            if not text:
                continue
            try:
                done = await active.combine(proposal, text=text)
            except (BankError, ConfigError) as error:
                row |= {"decision": "refused", "reason": str(error)}
            else:
                row |= {"decision": "combined", "id": f"{runtime.bank_id}:{done.fact.id}"}
                row["text"] = done.fact.text

    def human(console: Console) -> None:
        for row in rows:
            for memory in row["memories"]:
                console.print(f"{memory['id']}  {memory['text']}", markup=False)
            console.print(f"  -> {row['text'] or '(no sentence)'}", markup=False)
            console.print(f"  {row['decision']}: {row['reason']}", markup=False, style="dim")
        done = sum(row["decision"] == "combined" for row in rows)
        console.print(f"{done} of {len(rows)} pairs combined", markup=False, style="dim")

    app.emit({"pairs": rows}, human)


def _decide(proposal: Proposal, *, yes: bool) -> str | None:
    """The sentence to store; empty for none, None when the rest is left alone."""
    if yes:
        return proposal.text if proposal.enabled else ""
    for memory in (proposal.pair.first, proposal.pair.second):
        click.echo(f"- {memory.fact.text}", err=True)
    click.echo(f"  -> {proposal.text or '(no sentence)'}  ({proposal.reason})", err=True)
    allowed = ["c", "e", "s", "q"] if proposal.enabled else ["e", "s", "q"]
    answer = click.prompt(_CHOICES, type=click.Choice(allowed), show_choices=False, err=True)
    if answer == "c":
        return proposal.text
    if answer == "e":
        return (click.edit(proposal.text or proposal.pair.first.fact.text) or "").strip()
    return "" if answer == "s" else None


def _row(proposal: Proposal, *, bank: str) -> dict[str, Any]:
    return {
        "memories": [
            {"id": f"{bank}:{memory.fact.id}", "text": memory.fact.text}
            for memory in (proposal.pair.first, proposal.pair.second)
        ],
        "likeness": round(proposal.pair.likeness, 4),
        "text": proposal.text,
        "enabled": proposal.enabled,
        "reason": proposal.reason,
        "decision": "left",
    }
