"""Which documents of a session other documents of it take the place of."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hindsight_core.state import windows

if TYPE_CHECKING:
    import sqlite3

    from hindsight_core.state.queue import Queue


@dataclass(frozen=True, slots=True)
class Successor:
    """A document that a window became when its session was memorized anew.

    Attributes:
        document_id: The document; it is in the bank.
        last_entry_id: The window's end.
        entry_ids: Every entry of the window.
    """

    document_id: str
    last_entry_id: str
    entry_ids: tuple[str, ...]


async def outlived(
    queue: Queue, bank: str, session_id: str, new: Sequence[Successor], *, old: Collection[str]
) -> list[str]:
    """Old documents of which every entry is in one of the new ones."""
    again = {entry_id for item in new for entry_id in item.entry_ids}

    def work(connection: sqlite3.Connection) -> list[str]:
        made_of: dict[str, set[str]] = {document: set() for document in sorted(old)}
        for entry_id, document in connection.execute(
            "SELECT entry_id, document_id FROM covered WHERE bank = ? AND session_id = ?",
            (bank, session_id),
        ):
            if document in made_of:
                made_of[document].add(entry_id)
        return [name for name, entries in made_of.items() if entries and entries <= again]

    return await queue.database.read(work)


async def succeed(
    queue: Queue,
    bank: str,
    session_id: str,
    new: Sequence[Successor],
    *,
    deleted: Collection[str],
) -> None:
    """Record that entries are in these documents now; the cursor stays where it is.

    A deleted document counts as stored no more, so that it may be stored again.
    """

    def work(connection: sqlite3.Connection) -> None:
        for document in deleted:
            values = (bank, document)
            connection.execute("DELETE FROM receipts WHERE bank = ? AND document_id = ?", values)
            connection.execute(
                "UPDATE windows SET document_id = '' WHERE bank = ? AND document_id = ?", values
            )
        for item in new:
            windows.rename(
                connection,
                bank,
                session_id,
                item.entry_ids,
                last_entry_id=item.last_entry_id,
                document_id=item.document_id,
            )

    await queue.database.write(work)
