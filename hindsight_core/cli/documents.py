"""``hindsight-mem documents``: the writes that facts came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hindsight_core.banks.records import iso, listed
from hindsight_core.cli.app import App, common, confirm
from hindsight_core.cli.one_by_one import one_by_one
from hindsight_core.errors import ConfigError, MemoryOff

if TYPE_CHECKING:
    from rich.console import Console

    from hindsight_core.memory import Document
    from hindsight_core.runtime import Runtime


@click.group()
def documents() -> None:
    """Documents: list, show, delete."""


@documents.command("list")
@common
@click.option("--limit", default=50, show_default=True, type=click.IntRange(min=0))
@click.option("--offset", default=0, show_default=True, type=click.IntRange(min=0))
def list_(app: App, limit: int, offset: int) -> None:
    """Documents, newest first."""
    app.run(_list(app, limit, offset))


async def _list(app: App, limit: int, offset: int) -> None:
    async with app.runtime(read_only=True) as runtime:
        page = await runtime.bank.list_documents(limit=limit, offset=offset)
        rows = [_row(document, runtime.bank.id) for document in page.documents]

    def human(console: Console) -> None:
        for row in rows:
            when = (row["timestamp"] or "")[:16]
            console.print(f"{row['id']}  {when}  {row['facts']} fact(s)", markup=False)
        console.print(f"{len(rows)} of {page.total}", markup=False, style="dim")

    app.emit({"documents": rows, "total": page.total}, human)


@documents.command()
@common
@click.argument("document_id", metavar="ID")
def show(app: App, document_id: str) -> None:
    """A document's text and its facts."""
    app.run(_show(app, document_id))


async def _show(app: App, document_id: str) -> None:
    async with app.runtime(read_only=True) as runtime:
        bank = runtime.bank
        document = await bank.get_document(document_id)
        if document is None:
            raise ConfigError(_unknown(document_id, bank.id))
        found = [listed(fact, bank=bank.id) for fact in document.facts or ()]
        data = {
            **_row(document, bank.id),
            "text": document.text,
            "context": document.context,
            "tags": list(document.tags),
            "metadata": dict(document.metadata),
            "facts": found,
        }

    def human(console: Console) -> None:
        console.print(document.text, markup=False)
        for row in found:
            console.print(f"{row['id']}  ({row['state']}) {row['text']}", markup=False)

    app.emit(data, human)


@documents.command()
@common
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--yes", is_flag=True, help="Do not ask; needed without a terminal.")
def delete(app: App, ids: tuple[str, ...], yes: bool) -> None:  # noqa: FBT001
    """Delete documents with the facts that no other document holds."""
    confirm(f"Delete {len(ids)} document(s) and their facts?", yes=yes)
    app.run(_delete(app, ids))


async def _delete_one(runtime: Runtime, document_id: str) -> bool:
    """Delete a document; what is recorded of facts that went with it goes too."""
    held = await runtime.bank.get_document(document_id)
    if not await runtime.bank.delete_document(document_id):
        return False
    ids = [fact.id for fact in (held.facts or () if held else ())]
    await runtime.active.forget([i for i in ids if await runtime.bank.get_fact(i) is None])
    return True


async def _delete(app: App, ids: tuple[str, ...]) -> None:
    async with app.runtime() as runtime:
        if runtime.read_only:
            raise MemoryOff("bank.read_only is set: documents are not deleted")
        done, error = await one_by_one(ids, lambda i: _delete_one(runtime, i))
        deleted = [i for i, was_there in zip(ids, done, strict=False) if was_there]
        bank = runtime.bank.id

    def human(console: Console) -> None:
        for document_id in deleted:
            console.print(f"deleted {document_id}", markup=False)

    app.emit({"deleted": deleted}, human)
    if error is not None:
        raise error
    missing = [i for i in ids if i not in deleted]
    if missing:
        raise ConfigError(_unknown(", ".join(missing), bank))


def _row(document: Document, bank: str) -> dict[str, Any]:
    return {
        "id": document.id,
        "bank": bank,
        "timestamp": iso(document.timestamp),
        "facts": len(document.facts or ()),
    }


def _unknown(document_id: str, bank: str) -> str:
    return f"no document {document_id} in bank {bank}; `documents list` shows the ids"
