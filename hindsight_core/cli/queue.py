"""``hindsight-mem queue``: writes on their way to a bank, and those that were given up."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from hindsight_core.cli.app import App, common, confirm
from hindsight_core.errors import BankError, ConfigError
from hindsight_core.state.codec import decode_document
from hindsight_core.state.overview import payload
from hindsight_core.state.receipts import ReceiptRow, receipts

if TYPE_CHECKING:
    from rich.console import Console

    from hindsight_core.memory import Document
    from hindsight_core.state.jobs import JobRow, JobState

_IDS = click.argument("ids", nargs=-1, type=int, metavar="[ID]...")
_BANK_HINT = "Without --bank: of every bank."


@click.group()
def queue() -> None:
    """The write queue: list, show, flush, retry, purge, receipts.

    A write is on disk here before it is in its bank. One that its bank refuses again and again
    is a dead letter: it stays until it is retried or purged.
    """


@queue.command("list", epilog=_BANK_HINT)
@common
@click.option("--dead", is_flag=True, help="Dead letters only.")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(min=1))
def list_(app: App, dead: bool, limit: int) -> None:  # noqa: FBT001 - click passes it by name
    """Waiting writes and dead letters, oldest first; never their text."""
    app.run(_list(app, "dead" if dead else None, limit))


async def _list(app: App, state: JobState | None, limit: int) -> None:
    async with app.runtime(read_only=True) as runtime:
        rows = await runtime.queue.rows(bank=app.bank_name, state=state, limit=limit)
        counts = await runtime.queue.counts(app.bank_name)

    def human(console: Console) -> None:
        for row in rows:
            console.print(_line(row), markup=False)
        console.print(f"{counts.pending} pending, {counts.dead} dead", markup=False, style="dim")
        if counts.set_aside:
            console.print(f"{counts.set_aside} unreadable records set aside", markup=False)
        if counts.dead:
            console.print("Try them again with `queue retry`, drop them with `queue purge`.")

    data = {"jobs": [_record(row) for row in rows], "total": counts.pending + counts.dead}
    app.emit(data | _plain(asdict(counts)), human)


@queue.command()
@common
@click.argument("job_id", metavar="ID", type=int)
def show(app: App, job_id: int) -> None:
    """One write with its text, as it would be stored: secrets are out of it already."""

    async def work() -> tuple[JobRow, Document | str]:
        async with app.runtime(read_only=True) as runtime:
            row = await runtime.queue.holds(job_id)
            text = await runtime.queue.database.read(lambda c: payload(c, job_id))
        if row is None or text is None:
            raise ConfigError(f"no such write in the queue: {job_id}.")
        try:
            return row, decode_document(text)
        except ValueError as error:
            return row, f"unreadable: {error}"

    row, document = app.run(work())
    told = document if isinstance(document, str) else _told(document)

    def human(console: Console) -> None:
        console.print(_line(row), markup=False)
        console.print(told if isinstance(told, str) else told["text"], markup=False)

    app.emit({**_record(row), "document": told}, human)


@queue.command("receipts", epilog=_BANK_HINT)
@common
@click.option("--limit", default=50, show_default=True, type=click.IntRange(min=1))
@click.option("--session", metavar="ID", help="Of one session only.")
def receipts_(app: App, limit: int, session: str | None) -> None:
    """What reached its bank, newest first; never its text."""

    async def work() -> list[ReceiptRow]:
        async with app.runtime(read_only=True) as runtime:
            return await receipts(
                runtime.queue, bank=app.bank_name, session_id=session, limit=limit
            )

    rows = app.run(work())

    def human(console: Console) -> None:
        for row in rows:
            facts = f"  {row.facts} facts" if row.facts else ""
            line = f"{row.stored_at:%Y-%m-%d %H:%M}  {row.bank}  {row.document_id}{facts}"
            console.print(line, markup=False)
        if not rows:
            console.print("nothing was stored yet", style="dim")

    app.emit({"receipts": [_plain(asdict(row)) for row in rows]}, human)


@queue.command()
@common
@click.option("--timeout", default=60.0, show_default=True, help="Seconds; the rest stays queued.")
def flush(app: App, timeout: float) -> None:
    """Deliver the waiting writes of the project's banks (or of --bank) now."""
    app.run(_flush(app, timeout))


async def _flush(app: App, timeout: float) -> None:
    from hindsight_core.engine.outgoing import Outgoing

    async with app.runtime() as runtime:
        outgoing = Outgoing(runtime, only=app.bank_name)
        done, bank = await outgoing.flush(deadline_s=timeout), runtime.bank_id
        counts = await outgoing.counts()

    def human(console: Console) -> None:
        console.print(f"{done.sent} sent, {counts.pending} pending, {counts.dead} dead")

    reason = done.reason or (counts.last_error if counts.pending else None)
    told = {"sent": done.sent, "failed": done.failed, "reason": reason}
    app.emit({"bank": bank, **told, "pending": counts.pending, "dead": counts.dead}, human)
    if counts.pending or done.refused:
        raise BankError(
            f"{bank}: {reason or 'a write was refused'}. "
            "What is pending stays on disk and is tried again; see `hindsight-mem queue list`."
        )


@queue.command(epilog=_BANK_HINT)
@common
@_IDS
def retry(app: App, ids: tuple[int, ...]) -> None:
    """Give dead letters all their tries again, and end the waits of the others."""

    async def work() -> int:
        async with app.runtime() as runtime:
            return await runtime.queue.retry(bank=app.bank_name, ids=ids)

    count = app.run(work())
    _require(count, ids)
    app.emit({"retried": count}, lambda console: console.print(f"{count} due now"))


@queue.command(epilog=_BANK_HINT)
@common
@_IDS
@click.option("--pending", is_flag=True, help="Waiting writes too: they are lost then.")
@click.option("--yes", is_flag=True, help="Do not ask; needed without a terminal.")
def purge(app: App, ids: tuple[int, ...], pending: bool, yes: bool) -> None:  # noqa: FBT001
    """Drop dead letters (all, or those named) and unreadable records for good."""
    what = "writes, waiting ones too," if pending else "dead letters"
    confirm(f"Drop {what} for good?", yes=yes)

    async def work() -> int:
        async with app.runtime() as runtime:
            return await runtime.queue.purge(bank=app.bank_name, ids=ids, pending=pending)

    count = app.run(work())
    _require(count, ids)
    app.emit({"purged": count}, lambda console: console.print(f"{count} dropped"))


def _require(count: int, ids: tuple[int, ...]) -> None:
    if ids and not count:
        named = ", ".join(map(str, ids))
        raise ConfigError(f"no such write in the queue: {named}. See `hindsight-mem queue list`.")


def _told(document: Document) -> dict[str, Any]:
    return {
        "id": document.id,
        "text": document.text or "\n".join(fact.text for fact in document.facts or ()),
        "tags": list(document.tags),
        "metadata": dict(document.metadata),
        "timestamp": document.timestamp.isoformat() if document.timestamp else None,
    }


def _record(row: JobRow) -> dict[str, Any]:
    return _plain(asdict(row))


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {k: v.isoformat() if hasattr(v, "isoformat") else v for k, v in values.items()}


def _line(row: JobRow) -> str:
    state = "in delivery" if row.claimed else row.state
    reason = f"  {row.reason}" if row.reason else ""
    return (
        f"{row.id}  {row.bank}  {row.document_id}  {state}, {row.attempts} tries, "
        f"since {row.created_at:%Y-%m-%d %H:%M}{reason}"
    )
