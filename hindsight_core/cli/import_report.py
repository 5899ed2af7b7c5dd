"""What an import of sessions came to, as a table or as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from hindsight_core.cli.app import App

Json = dict[str, Any]
_DRY = "nothing was memorized; tokens are those of the talk, which a model reads two or three times"
_CHILDREN = "left out: of sub-agents, whose results stand in their parents"


def report(
    app: App,
    rows: Sequence[Json],
    *,
    dry_run: bool,
    children: int,
    spent: Mapping[str, int | None] | None = None,
) -> None:
    """Print it.

    Args:
        app: The invocation.
        rows: One a session; ``bank`` is None for those that go nowhere.
        dry_run: Nothing was memorized.
        children: How many sessions were sub-agents'.
        spent: ``used`` and ``budget`` in tokens, ``left`` in sessions.
    """
    data = {
        "dry_run": dry_run,
        **(spent or {}),
        "sessions": list(rows),
        "children": children,
        "banks": _sums(rows),
    }
    app.emit(data, lambda console: _show(console, data))


def _sums(rows: Sequence[Json]) -> dict[str, Json]:
    """By bank: sessions, those with something new, its tokens, facts stored."""
    banks: dict[str, Json] = {}
    for row in rows:
        if row["bank"] is None:
            continue
        empty = {"sessions": 0, "new": 0, "tokens": 0, "facts": 0}
        sums = banks.setdefault(row["bank"], empty)
        sums["sessions"] += 1
        sums["new"] += bool(row["new"])
        sums["tokens"] += row["tokens"]
        sums["facts"] += len(row["facts"])
    return banks


def _show(console: Console, data: Json) -> None:
    if not data["sessions"]:
        console.print("no sessions were found")
        return
    if data["banks"]:
        _table(console, data)
    without = Counter(row["reason"] for row in data["sessions"] if row["bank"] is None)
    for reason, count in without.items():
        console.print(f"{count} left out: {reason}", markup=False)
    if data["children"]:
        console.print(f"{data['children']} {_CHILDREN}")
    if data["dry_run"]:
        console.print(_DRY)
    elif any(row.get("over_budget") for row in data["sessions"]):
        console.print(
            f"stopped at the budget: {data['used']} of {data['budget']} tokens are used, "
            f"{data['left']} more sessions wait. Run it again to go on.",
            markup=False,
        )


def _table(console: Console, data: Json) -> None:
    from rich.table import Table

    columns = {"sessions": "sessions", "new": "with something new", "tokens": "about tokens"}
    if not data["dry_run"]:
        columns["facts"] = "facts"
    table = Table("bank", box=None, pad_edge=False)
    for title in columns.values():
        table.add_column(title, justify="right")
    for bank, sums in data["banks"].items():
        table.add_row(bank, *(str(sums[name]) for name in columns))
    console.print(table)
