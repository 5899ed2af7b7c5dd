"""Fails whenever it is called."""

from __future__ import annotations

from hindsight_core import hookimpl

calls: list[str] = []


@hookimpl
def hindsight_plan_recall(turn: object) -> None:
    """A plain failure."""
    calls.append("plan")
    raise ValueError("no plan today")


@hookimpl
async def hindsight_filter_facts(facts: object) -> None:
    """Even leaving the program is only a failure."""
    calls.append("facts")
    raise SystemExit(3)


@hookimpl
def hindsight_remind(turn: object) -> int:
    """A wrong type is a failure too."""
    calls.append("remind")
    return 42
