"""``hindsight-mem review``: look at what was stored by itself, and decide."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import click

from hindsight_core.banks.records import listed
from hindsight_core.cli.app import App, check_editor, common, confirm
from hindsight_core.errors import BankError, ConfigError

if TYPE_CHECKING:
    from rich.console import Console

    from hindsight_core.engine.reviewing import Review, Reviewed, ReviewReport

_NUMBERS = click.argument("numbers", nargs=-1, type=int, metavar="[N]...")
_ALL = click.option("--all", "everything", is_flag=True, help="Every entry (of --bank) that waits.")
_BULK = 500


@click.group()
def review() -> None:
    """The review queue: list, show, approve, edit, delete, undo.

    What memorizing stored by itself waits here, of every project and session. N is the number
    that `list` shows. With review.mode "before" nothing of it is recalled until it is approved.
    """


@review.command("list", epilog="Without --bank: of every project.")
@common
@click.option("--limit", default=50, show_default=True, type=click.IntRange(min=1))
@click.option("--offset", default=0, show_default=True, type=click.IntRange(min=0))
def list_(app: App, limit: int, offset: int) -> None:
    """What waits, newest first."""
    app.run(_list(app, limit, offset))


async def _list(app: App, limit: int, offset: int) -> None:
    async with _opened(app, read_only=True) as opened:
        page = await opened.list(bank=app.bank_name, limit=limit, offset=offset)
    rows = [_row(item) for item in page.items]

    def human(console: Console) -> None:
        for item, row in zip(page.items, rows, strict=True):
            console.print(_line(item, row), markup=False)
        console.print(f"{len(rows)} of {page.total}", markup=False, style="dim")

    app.emit({"items": rows, "total": page.total}, human)


@review.command()
@common
@click.argument("number", type=int, metavar="N")
def show(app: App, number: int) -> None:
    """An entry and its text."""
    app.run(_show(app, number))


async def _show(app: App, number: int) -> None:
    async with _opened(app, read_only=True) as opened:
        item = await opened.show(number)
    _emit_one(app, item)


@review.command()
@common
@_NUMBERS
@_ALL
def approve(app: App, numbers: tuple[int, ...], everything: bool) -> None:  # noqa: FBT001
    """Take entries out of the queue; what was held back is recalled from now on."""
    app.run(_decide(app, numbers, everything, "approved", lambda r, n: r.approve(n)))


@review.command()
@common
@_NUMBERS
@_ALL
@click.option("--yes", is_flag=True, help="Do not ask; needed without a terminal.")
def delete(app: App, numbers: tuple[int, ...], everything: bool, yes: bool) -> None:  # noqa: FBT001
    """Delete the documents of entries; `review undo` brings them back."""
    what = "all that waits" if everything else f"{len(numbers)} document(s)"
    confirm(f"Delete {what} from memory?", yes=yes)
    app.run(_decide(app, numbers, everything, "deleted", lambda r, n: r.delete(n)))


async def _decide(
    app: App,
    numbers: tuple[int, ...],
    everything: bool,  # noqa: FBT001
    done: str,
    step: Callable[[Review, list[int]], Awaitable[ReviewReport]],
) -> None:
    if bool(numbers) == everything:
        raise ConfigError("name entries by their numbers, or all of them with --all")
    async with _opened(app) as opened:
        if everything:
            page = await opened.list(bank=app.bank_name, limit=_BULK)
            numbers = tuple(item.item.id for item in page.items)
        report = await step(opened, list(numbers))
    _emit_report(app, report, done)


@review.command()
@common
@click.argument("number", type=int, metavar="N")
@click.option("--text", help="The new text, one fact a line; without it your editor opens.")
def edit(app: App, number: int, text: str | None) -> None:
    """Store a corrected text under the same document; the entry stays in the queue."""
    if text is None:
        check_editor("the new text with --text")
    app.run(_edit(app, number, text))


async def _edit(app: App, number: int, text: str | None) -> None:
    async with _opened(app) as opened:
        if text is None:
            before = await opened.show(number)
            if before.unreachable:
                raise BankError(f"entry {number} cannot be edited now: {before.unreachable}")
            text = click.edit(before.text)
            if text is None:
                raise ConfigError("nothing was changed; give --text or save in the editor")
        item = await opened.edit(number, text)
    _emit_one(app, item)


@review.command()
@common
def undo(app: App) -> None:
    """Take the last decision back, all of it."""
    app.run(_undo(app))


async def _undo(app: App) -> None:
    async with _opened(app) as opened:
        report = await opened.undo()
    if not report.done and not report.kept:
        raise ConfigError("there is no decision to take back")
    _emit_report(app, report, "undone")


@asynccontextmanager
async def _opened(app: App, *, read_only: bool = False) -> AsyncIterator[Review]:
    from hindsight_core.engine.reviewing import Review

    async with app.runtime(read_only=read_only) as runtime:
        opened = Review(runtime)
        try:
            yield opened
        finally:
            await opened.close()


def _emit_report(app: App, report: ReviewReport, done: str) -> None:
    def human(console: Console) -> None:
        console.print(f"{len(report.done)} {done}", markup=False)
        for number, reason in report.kept.items():
            console.print(f"{number} stays: {reason}", markup=False)

    kept = {str(number): reason for number, reason in report.kept.items()}
    app.emit({done: list(report.done), "kept": kept}, human)
    if report.kept:
        number, reason = next(iter(report.kept.items()))
        raise BankError(
            f"{len(report.kept)} stay in the queue, {number} because {reason}", retryable=True
        )


def _emit_one(app: App, item: Reviewed) -> None:
    row = _row(item)

    def human(console: Console) -> None:
        console.print(_line(item, row), markup=False)
        console.print(item.unreachable or item.text or "the server still extracts", markup=False)

    app.emit(row, human)


def _row(item: Reviewed) -> dict[str, Any]:
    written, document = item.item.written, item.document
    facts = None if document is None else document.facts or ()
    return {
        "id": item.item.id,
        "document": written.document_id,
        "bank": written.bank,
        "backend": written.backend,
        "project": written.project,
        "language": written.language,
        "reason": written.reason,
        "session": written.session_id,
        "host": written.host,
        "state": item.item.state,
        "by": item.item.by,
        "held": written.held,
        "created_at": item.item.created_at.isoformat(),
        "unreachable": item.unreachable,
        "text": item.text,
        "facts": None if facts is None else [listed(fact, bank=written.bank) for fact in facts],
    }


def _line(item: Reviewed, row: dict[str, Any]) -> str:
    parts = [f"{row['created_at'][:16]}", row["project"] or row["bank"], row["bank"]]
    parts += ["unreachable"] if item.unreachable else [f"{len(row['facts'] or [])} fact(s)"]
    parts += [row["reason"]] if row["reason"] else []
    parts += ["held back"] if row["held"] and row["state"] == "pending" else []
    parts += [row["state"]] if row["state"] != "pending" else []
    first = next((line for line in item.text.splitlines() if not line.startswith("#")), "")
    return f"{row['id']}  {' · '.join(parts)}  {first}".rstrip()
