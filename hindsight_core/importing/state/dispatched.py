"""Which documents pi-hindsight made of a session: its dispatch log (pi/M-21).

A session that is memorized anew replaces them then, as it replaces those that were made here.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hindsight_core.errors import HindsightError
from hindsight_core.importing.state.desk import Tally
from hindsight_core.importing.state.watermarks import named
from hindsight_core.memorize.inherited import BACKEND
from hindsight_core.state import windows
from hindsight_core.transcript.path import active_path

if TYPE_CHECKING:
    import sqlite3

    from hindsight_core.importing.state.desk import Desk
    from hindsight_core.runtime import Runtime
    from hindsight_core.transcript.past import PastSession

FILE = "dispatch-log.jsonl"
Line = Mapping[str, Any]


async def adopt(desk: Desk) -> Tally:
    """Note for each entry which document it is in; they are on the plugin's server only."""
    tally = Tally("documents of sessions")
    sessions = {session.session_id: session for session in desk.sessions}
    for folder, path in desk.kept(FILE):
        place = desk.place(folder)
        if place.bank is None or desk.runtime(place).bank.backend != BACKEND:
            continue
        for session_id, lines in _by_session(path).items():
            if session_id not in sessions:
                continue
            try:
                await _session(desk, desk.runtime(place), sessions[session_id], lines, tally)
            except HindsightError as error:
                tally.left.append(f"{sessions[session_id].source}: {error}")
    return tally


def _by_session(path: Path) -> dict[str, list[Line]]:
    """Lines by session, oldest first; broken ones say nothing (pi/M-21)."""
    found: dict[str, list[Line]] = {}
    try:
        text = path.read_text("utf-8", "replace")
    except OSError:
        return found
    for line in text.splitlines():
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        keys = ("docId", "sessionId", "lastId")
        if isinstance(record, dict) and all(isinstance(record.get(key), str) for key in keys):
            found.setdefault(record["sessionId"], []).append(record)
    return found


async def _session(
    desk: Desk, runtime: Runtime, session: PastSession, lines: Sequence[Line], tally: Tally
) -> None:
    transcript = named(runtime, await asyncio.to_thread(session.read, None))
    path = [entry.id for entry in active_path(transcript.entries)]
    places = {entry_id: number for number, entry_id in enumerate(path)}
    bank, own, identify = runtime.bank_id, transcript.session_id, runtime.sanitiser.entry_id
    begin = 0
    for line in lines:
        last = places.get(line["lastId"])
        if last is None:
            continue
        # A window begins where the one before it ended, also where its first record says nothing.
        first = places.get(str(line.get("firstId")), begin)
        ids = [identify(entry_id) for entry_id in path[first : last + 1]]
        begin = last + 1
        document = str(line["docId"])
        if not ids or await _is_known(runtime, bank, own, ids):
            tally.known += 1
            continue
        tally.adopted += 1
        if not desk.dry_run:
            await _note(runtime, bank, own, ids, document=document)


async def _is_known(runtime: Runtime, bank: str, session: str, ids: Sequence[str]) -> bool:
    def work(connection: sqlite3.Connection) -> bool:
        return any(windows.holder(connection, bank, session, entry) is not None for entry in ids)

    return await runtime.queue.database.read(work)


async def _note(
    runtime: Runtime, bank: str, session: str, ids: Sequence[str], *, document: str
) -> None:
    now = runtime.clock().timestamp()

    def work(connection: sqlite3.Connection) -> None:
        windows.mark(connection, bank, session, ids[-1], document_id=document, now=now)
        windows.cover(connection, bank, session, ids, document_id=document)

    await runtime.queue.database.write(work)
