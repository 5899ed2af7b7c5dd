"""``hindsight-mem sessions``: what each session may read and write."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from hindsight_core.cli.app import App, common
from hindsight_core.cli.sessions_forget import forget
from hindsight_core.errors import ConfigError
from hindsight_core.state.choices import MODES, MOST_TAG_CHARS, Choices, is_tag

if TYPE_CHECKING:
    from rich.console import Console

    from hindsight_core.runtime import Runtime
    from hindsight_core.state.session_list import SessionRow

_ID = click.argument("session_id", metavar="ID")
_SWITCH = click.Choice(["on", "off"])
_LIMIT = 20


@click.group()
def sessions() -> None:
    """Sessions and their modes: list, show, set, forget.

    What is chosen here counts at once, also in a session that is running.
    """


sessions.add_command(forget)


@sessions.command("list", epilog="Without --bank: of every bank.")
@common
@click.option("--limit", default=_LIMIT, show_default=True, type=click.IntRange(min=1))
def list_(app: App, limit: int) -> None:
    """Sessions that memory knows, the newest first."""

    async def work() -> list[SessionRow]:
        async with app.runtime(read_only=True) as runtime:
            return await _known(runtime, app.bank_name)

    rows = app.run(work())

    def human(console: Console) -> None:
        for row in rows[:limit]:
            console.print(_line(row), markup=False)
        if not rows:
            console.print("no session is known yet", style="dim")
        elif len(rows) > limit:
            console.print(f"{len(rows) - limit} more; see --limit", style="dim")

    app.emit({"sessions": [_record(row) for row in rows[:limit]], "total": len(rows)}, human)


@sessions.command()
@common
@_ID
def show(app: App, session_id: str) -> None:
    """How one session stands; the beginning of its id is enough."""

    async def work() -> SessionRow:
        async with app.runtime(read_only=True) as runtime:
            return await one(runtime, session_id)

    row = app.run(work())

    def human(console: Console) -> None:
        for name, value in _record(row).items():
            shown = ", ".join(value) if isinstance(value, list) else value
            console.print(f"{name:<12} {'—' if shown in (None, '') else shown}", markup=False)

    app.emit(_record(row), human)


@sessions.command("set")
@common
@_ID
@click.option("--mode", type=click.Choice(MODES), help="read-only writes nothing, ignored neither.")
@click.option("--recall", type=_SWITCH, help="Stays off whatever the mode.")
@click.option("--retain", type=_SWITCH, help="Stays off whatever the mode.")
@click.option("--next-turn", type=click.Choice(["keep", "leave-out"]), help="Of its next turn.")
@click.option("--tag", "tags", multiple=True, help="On everything that it writes.")
@click.option("--untag", "untags", multiple=True, help="Not any more.")
def set_(app: App, session_id: str, **options: Any) -> None:  # noqa: ANN401 - click's
    """Choose what a session may read and write; it holds for all its later processes."""
    wrong = next((tag for tag in options["tags"] if not is_tag(tag.strip())), None)
    if wrong is not None:
        raise ConfigError(
            f"{wrong!r} is no tag: 1 to {MOST_TAG_CHARS} characters, no control characters"
        )
    if not any(options.values()):
        raise ConfigError("nothing to set: give --mode, --recall, --retain, --next-turn or --tag")

    async def work() -> SessionRow:
        from hindsight_core.state.choices import SessionChoices

        async with app.runtime() as runtime:
            row = await one(runtime, session_id)
            store = SessionChoices(runtime.sessions)
            after = await store.change(row.session_id, lambda now: _chosen(now, options))
            return replace(row, choices=after)

    row = app.run(work())
    app.emit(_record(row), lambda console: console.print(_line(row), markup=False))


def _chosen(now: Choices, options: dict[str, Any]) -> Choices:
    gone = {tag.strip() for tag in options["untags"]}
    tags = dict.fromkeys([*now.tags, *(tag.strip() for tag in options["tags"])])
    return replace(
        now,
        mode=options["mode"] or now.mode,
        recall=_on(options["recall"], now.recall),
        retain=_on(options["retain"], now.retain),
        next_opt_out=(
            now.next_opt_out
            if options["next_turn"] is None
            else options["next_turn"] == "leave-out"
        ),
        tags=tuple(tag for tag in tags if tag not in gone),
    )


def _on(given: str | None, now: bool) -> bool:  # noqa: FBT001
    return now if given is None else given == "on"


async def _known(runtime: Runtime, bank: str | None) -> list[SessionRow]:
    from hindsight_core.state.session_list import known_sessions

    return await known_sessions(runtime.queue, runtime.sessions, bank=bank)


async def one(runtime: Runtime, given: str) -> SessionRow:
    """A session that is known, by its id or the beginning of it."""
    rows = await _known(runtime, None)
    found = [row for row in rows if row.session_id.startswith(given)]
    exact = [row for row in found if row.session_id == given]
    if len(exact or found) == 1:
        return (exact or found)[0]
    if not found:
        raise ConfigError(f"no session {given!r} is known. See `hindsight-mem sessions list`.")
    few = ", ".join(row.session_id for row in found[:5])
    raise ConfigError(f"{given!r} begins {len(found)} sessions: {few}. Give more of the id.")


def _record(row: SessionRow) -> dict[str, Any]:
    choices = row.choices
    return {
        "id": row.session_id,
        "mode": choices.mode,
        "recall": "on" if choices.recall else "off",
        "retain": "on" if choices.retain else "off",
        "next_turn": "leave-out" if choices.next_opt_out else "keep",
        "tags": list(choices.tags),
        "broken": choices.broken,
        "host": row.host,
        "project": row.project,
        "banks": list(row.banks),
        "documents": row.documents,
        "waiting": row.waiting,
        "at": row.at.isoformat() if row.at else None,
    }


def _line(row: SessionRow) -> str:
    choices = row.choices
    said = [choices.mode + (" (its record is broken: choose a mode)" if choices.broken else "")]
    said += [] if choices.recall else ["recall off"]
    said += [] if choices.retain else ["retain off"]
    said += ["next turn left out"] if choices.next_opt_out else []
    said += [f"tags {', '.join(choices.tags)}"] if choices.tags else []
    said += [f"{row.documents} documents in {', '.join(row.banks)}"] if row.documents else []
    said += [f"{row.waiting} waiting"] if row.waiting else []
    when = f"{row.at:%Y-%m-%d %H:%M}" if row.at else "—"
    return f"{row.session_id}  {when}  {' · '.join(said)}"
