"""How facts stand, and ``facts expire``: what active memory adds to the commands for facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hindsight_core.banks.records import iso
from hindsight_core.cli.app import App, common
from hindsight_core.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from hindsight_core.memorize.lifecycle.memory import Memory
    from hindsight_core.memory import Fact
    from hindsight_core.runtime import Runtime

BY_HAND = "by hand"


async def standing(
    runtime: Runtime, facts: Sequence[Fact], *, full: bool = False
) -> dict[str, dict[str, Any]]:
    """What their records say, by fact id; nothing where facts do not decay.

    Args:
        runtime: The opened configuration.
        facts: Which.
        full: Everything, for one fact; else what a listing shows.
    """
    if not runtime.settings.lifecycle.enabled:
        return {}
    memories = await runtime.active.of_facts(facts)
    return {m.fact.id: _fields(m, runtime, full=full) for m in memories}


def mark(row: dict[str, Any]) -> str:
    """The same for a line of a listing."""
    if "confidence" not in row:
        return ""
    left = row["days_left"]
    until = "" if left is None or row["state"] != "valid" else f", {left} unused days left"
    return f" ({row['confidence']:.2f}{until})"


async def retire(runtime: Runtime, fact: Fact, *, reason: str | None) -> Fact:
    """Invalidate a fact; where facts decay its record is told."""
    reason = reason and runtime.sanitiser.text(reason)
    if not runtime.settings.lifecycle.enabled:
        return await runtime.bank.set_state(fact.id, "invalidated", reason=reason)
    return (await runtime.active.delete(fact.id, reason=reason or BY_HAND)).fact


async def bring_back(runtime: Runtime, fact: Fact, *, reason: str | None) -> Fact:
    """Make a fact valid again; where facts decay it lasts as long as a new one."""
    reason = reason and runtime.sanitiser.text(reason)
    if runtime.settings.lifecycle.enabled:
        fact = (await runtime.active.restore(fact.id)).fact
    else:
        fact = await runtime.bank.set_state(fact.id, "valid")
    if reason:
        kill = {"id": fact.id, "text": fact.text}
        runtime.log.write("restore", bank=runtime.bank_id, kills=[kill], reason=reason)
    return fact


@click.command()
@common
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--due", is_flag=True, help="All that have fallen too low, as each session does.")
@click.option("--reason", help="Why, for whoever looks at it later.")
def expire(app: App, ids: tuple[str, ...], due: bool, reason: str | None) -> None:  # noqa: FBT001
    """Retire facts that are not wrong but no longer wanted; they may be learnt again."""
    if bool(ids) == due:
        raise ConfigError("name facts, or all that are due with --due")
    app.run(_expire(app, ids, reason=reason))


async def _expire(app: App, ids: tuple[str, ...], *, reason: str | None) -> None:
    from hindsight_core.cli.facts import find, writable
    from hindsight_core.memorize.lifecycle.memory import EXPIRED

    async with app.runtime() as runtime:
        bank = writable(runtime)
        why = f"{EXPIRED}{runtime.sanitiser.text(reason or BY_HAND)}"
        if ids:
            found = [await find(bank, fact_id) for fact_id in ids]
            gone = [await runtime.active.delete(fact.id, reason=why) for fact in found]
        elif runtime.settings.lifecycle.enabled:
            gone = list((await runtime.active.sweep()).expired)
        else:
            raise ConfigError("lifecycle.enabled is off: nothing expires by itself")
        rows = [
            {"id": f"{bank.id}:{m.fact.id}", "text": m.fact.text, "reason": m.fact.reason}
            for m in gone
        ]

    def human(console: Console) -> None:
        for row in rows:
            console.print(f"{row['id']}  {row['text']}  ({row['reason']})", markup=False)
        console.print(f"{len(rows)} expired", markup=False, style="dim")

    app.emit({"expired": rows}, human)


def _fields(memory: Memory, runtime: Runtime, *, full: bool) -> dict[str, Any]:
    from hindsight_core.memorize.lifecycle.decay import days_left

    record, rules = memory.record, runtime.settings.lifecycle
    pinned = memory.fact.pinned
    shown: dict[str, Any] = {
        "confidence": round(record.confidence, 4),
        "days_left": None if pinned else days_left(record, rules),
        "scope": record.scope,
        "authority": record.told.actor,
    }
    if not full:
        return shown
    told = record.told
    more = {
        "floor": rules.pinned_floor if pinned else None,
        "decay_rate": record.decay_rate,
        "priority": record.priority,
        "useful": record.useful,
        "unhelpful": record.unhelpful,
        "cause": told.cause,
        "why_stored": told.reason,
        "evidence": told.evidence,
        "said_in": told.user_text,
        "elapsed_ms": told.elapsed_ms,
        "relevant_at": iso(record.relevant_at),
        "expired_by": record.expired_by,
        "said_before": [item.text for item in record.earlier if item.text],
        "supersedes": list(record.supersedes),
    }
    return {**shown, **{key: value for key, value in more.items() if value not in (None, "", [])}}
