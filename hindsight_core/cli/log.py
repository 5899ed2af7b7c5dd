"""``hindsight-mem log``: what was recalled, stored, retired and failed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from hindsight_core.cli.app import App, common
from hindsight_core.cli.recall import moment

if TYPE_CHECKING:
    from rich.console import Console

_FIRST = ("ts", "type")


@click.command()
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True)
@click.option("--type", "kind", metavar="TYPE", help="Only entries of this type, such as recall.")
@click.option(
    "--since", callback=moment, metavar="DATE", help="Only entries at or after this date (UTC)."
)
@common
def log(app: App, limit: int, kind: str | None, since: datetime | None) -> None:
    """Show the activity log, newest first."""
    from hindsight_core.telemetry import ActivityLog

    activity = ActivityLog(app.paths.logs)
    entries = activity.read(limit, type=kind, where=_written_since(since) if since else None)
    data = {"entries": entries, "malformed": activity.malformed}
    app.emit(data, lambda console: _print(console, entries, activity))


def _written_since(since: datetime) -> Callable[[Mapping[str, Any]], bool]:
    def wanted(entry: Mapping[str, Any]) -> bool:
        try:
            written = datetime.fromisoformat(str(entry.get("ts")))
        except ValueError:
            return False
        return (written if written.tzinfo else written.replace(tzinfo=UTC)) >= since

    return wanted


def _print(console: Console, entries: list[dict[str, Any]], activity: object) -> None:
    from rich.markup import escape

    malformed = getattr(activity, "malformed", 0)
    if not entries:
        console.print("no entries")
    for entry in entries:
        shown = {k: v for k, v in entry.items() if k not in _FIRST and v is not None}
        rest = "  ".join(f"{k}={_short(v)}" for k, v in shown.items())
        when = str(entry.get("ts", ""))[:19].replace("T", " ")
        console.print(f"{escape(when)}  [bold]{escape(str(entry.get('type')))}[/]  {escape(rest)}")
    if malformed:
        console.print(f"{malformed} unreadable lines were left out")


def _short(value: object) -> str:
    if isinstance(value, dict) and set(value) == {"characters", "sha256"}:
        return f"<{value['characters']} characters>"
    if isinstance(value, list):
        return f"[{len(value)}]" if len(value) > 3 else f"[{', '.join(map(_short, value))}]"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {_short(v)}" for name, v in value.items()) + "}"
    text = " ".join(str(value).split())
    return text if len(text) <= 120 else f"{text[:119]}…"
