"""What s1enhanced knows to be delivered: its receipts (s1/S-Q-8)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hindsight_core.importing.state.desk import Tally, read_object
from hindsight_core.transcript.shapes import read_time

if TYPE_CHECKING:
    import sqlite3

    from hindsight_core.importing.state.desk import Desk

FILE = "retain-receipts.json"
# No content of ours has this digest: a write of the same document is not taken for known.
UNKNOWN = "adopted"


async def adopt(desk: Desk) -> Tally:
    """Keep them as receipts: documents that are stored, with what in them is not known."""
    tally = Tally("receipts")
    for folder, path in desk.kept(FILE):
        place = desk.place(folder)
        try:
            listed = read_object(path).get("receipts")
        except ValueError as error:
            tally.left.append(str(error))
            continue
        if place.bank is None:
            continue
        aliases = place.loaded.bank.aliases if place.loaded else ()
        runtime = desk.runtime(place)
        for item in listed if isinstance(listed, list) else ():
            row = _row(item, str(place.bank), aliases)
            if row is None:
                continue
            if desk.dry_run:
                tally.adopted += 1
                continue
            new = await runtime.queue.database.write(lambda c, row=row: _insert(c, row))  # type: ignore[misc]
            tally.adopted += new
            tally.known += not new
    return tally


def _row(item: object, bank: str, aliases: tuple[str, ...]) -> tuple[Any, ...] | None:
    if not isinstance(item, dict):
        return None
    named = item.get("bankId", item.get("bank"))
    document = item.get("documentId", item.get("document"))
    when = next((w for k, v in item.items() if k.endswith("At") and (w := read_time(v))), None)
    if not isinstance(named, str) or not isinstance(document, str) or when is None:
        return None
    own = bank if named in aliases else named
    return own, document, UNKNOWN, None, json.dumps([]), when.timestamp()


def _insert(connection: sqlite3.Connection, row: tuple[Any, ...]) -> int:
    return connection.execute(
        "INSERT OR IGNORE INTO receipts (bank, document_id, content_hash, session_id, fact_ids,"
        " stored_at) VALUES (?, ?, ?, ?, ?, ?)",
        row,
    ).rowcount
