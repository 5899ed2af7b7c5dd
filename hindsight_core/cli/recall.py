"""``hindsight-mem recall``: search the bank, or see what a turn would be given."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from hindsight_core.cli.app import App, common
from hindsight_core.errors import BankError

if TYPE_CHECKING:
    from hindsight_core.memory import Hit, Scope
    from hindsight_core.turns import RecallOutcome, Turn

MAX_LIMIT = 1000


def moment(ctx: click.Context, param: click.Parameter, value: str | None) -> datetime | None:
    """An ISO date or time as an option's value; without a zone it is UTC."""
    if value is None:
        return None
    try:
        parsed = datetime.fromisoformat(value)
    except ValueError:
        raise click.BadParameter(
            f"{value!r} is no ISO date, such as 2026-03-01 or 2026-03-01T09:30", ctx, param
        ) from None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


@click.command()
@common
@click.argument("query", nargs=-1, required=True)
@click.option(
    "--limit",
    type=click.IntRange(1, MAX_LIMIT),
    default=10,
    show_default=True,
    help="How many facts at most.",
)
@click.option("--kind", "kinds", multiple=True, help="Only facts of this kind; may be repeated.")
@click.option(
    "--since", callback=moment, metavar="DATE", help="Only facts said at or after this date (UTC)."
)
@click.option(
    "--until", callback=moment, metavar="DATE", help="Only facts said before this date (UTC)."
)
@click.option("--tag", "tags", multiple=True, help="Only facts with one of these tags.")
@click.option("--file", "file", metavar="PATH", help="Only facts that mention this path.")
@click.option("--explain", is_flag=True, help="Show how each score came about.")
@click.option("--turn", "as_turn", is_flag=True, help="Run what a turn with this prompt runs.")
def recall(
    app: App,
    query: tuple[str, ...],
    limit: int,
    kinds: tuple[str, ...],
    since: datetime | None,
    until: datetime | None,
    tags: tuple[str, ...],
    file: str | None,
    *,
    explain: bool,
    as_turn: bool,
) -> int:
    """Search the bank; no model is called, except with --turn."""
    text = " ".join(query).strip()
    if not text:
        raise click.UsageError("Say what to search for; `facts list` lists everything.")
    if as_turn:
        return app.run(_turn(app, text))
    from hindsight_core.memory import Scope, TagFilter

    scope = Scope(
        kinds=kinds,
        tags=TagFilter(tags=tags, match="any_strict") if tags else None,
        since=since,
        until=until,
        file=file,
    )
    return app.run(_search(app, text, limit=limit, scope=scope, explain=explain))


async def _search(app: App, text: str, *, limit: int, scope: Scope, explain: bool) -> int:
    # Not runtime.recall: the pipeline brings prompts and models, which a search does not need.
    from hindsight_core.recall.search import search
    from hindsight_core.worktree.ranking import against_tree

    try:
        async with app.runtime(read_only=True) as runtime:
            hits = await search(
                {runtime.bank_id: runtime.bank},
                text,
                limit=limit,
                scope=scope,
                hooks=runtime.hooks,
                sanitiser=runtime.sanitiser,
                max_characters=runtime.settings.security.max_fact_characters,
            )
            if runtime.settings.recall.check_files and runtime.worktree is not None:
                hits = list(await against_tree(hits, runtime.worktree))
    except BankError as error:
        if app.json:
            _print_json({"outcome": "failed", "reason": str(error), "hits": []})
        print(f"hindsight-mem: the bank failed: {error}", file=sys.stderr)
        return 1
    _show_hits(app, hits, explain=explain)
    return 0


def _show_hits(app: App, hits: list[Hit], *, explain: bool) -> None:
    if app.json:
        from hindsight_core.recall.wire import hit_wire

        rows = [hit_wire(hit) | ({"parts": dict(hit.parts)} if explain else {}) for hit in hits]
        _print_json({"outcome": "ok" if hits else "empty", "hits": rows})
        return
    if not hits:
        click.echo("nothing found")
    for hit in hits:
        said = hit.fact.timestamp
        date = said.date().isoformat() if said else "no date   "
        click.echo(f"{hit.score:.2f}  {date}  {hit.fact.text}  [{hit.id}]")
        for what, paths in (("missing", hit.missing), ("changed since", hit.changed)):
            if paths:
                click.echo(f"      {what}: {', '.join(paths)}")
        if explain:
            parts = ", ".join(f"{name} {value:.3f}" for name, value in hit.parts.items())
            click.echo(f"      {parts or 'this bank does not say how the score came about'}")


async def _turn(app: App, text: str) -> int:
    from uuid import uuid4

    from hindsight_core.turns import Turn

    async with app.runtime(read_only=True) as runtime:
        turn = Turn(
            id=f"cli-{uuid4().hex[:12]}",
            session_id="cli",
            prompt=runtime.sanitiser.text(text),
            banks=(runtime.bank_id,),
        )
        outcome = await runtime.recall.run(turn)
    _show_turn(app, turn, outcome)
    return 1 if outcome.outcome == "failed" else 0


def _show_turn(app: App, turn: Turn, outcome: RecallOutcome) -> None:
    from hindsight_core.recall.outcomes import query_texts
    from hindsight_core.recall.wire import hit_wire

    block = outcome.block.text if outcome.block else None
    if app.json:
        _print_json(
            {
                "outcome": outcome.outcome,
                "reason": outcome.reason,
                "turn": turn.id,
                "queries": list(query_texts(outcome)),
                "found": outcome.found,
                "hits": [hit_wire(hit) for hit in outcome.hits],
                "block": block,
            }
        )
        return
    reason = (outcome.reason or "").removesuffix(" (degraded)")
    click.echo(f"{outcome.outcome}{f': {reason}' if reason else ''}")
    for query in query_texts(outcome):
        click.echo(f"searched: {query}")
    if block:
        click.echo(f"\n{block}")


def _print_json(data: dict[str, Any]) -> None:
    import json

    click.echo(json.dumps(data, ensure_ascii=False))
