"""What s1enhanced has retained of pi's sessions: its cursor file (s1/S-CUR, S-ID-5)."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hindsight_core.errors import HindsightError
from hindsight_core.importing.state.desk import Tally, read_object
from hindsight_core.importing.state.watermarks import named, unseen_of, until
from hindsight_core.memorize.transcript.adopted import retained_ids
from hindsight_core.transcript.path import active_path

if TYPE_CHECKING:
    from hindsight_core.importing.state.desk import Desk
    from hindsight_core.transcript.past import PastSession

FILE = "retain-cursors.json"


def by_key(sessions: Sequence[PastSession]) -> Mapping[str, PastSession]:
    """Sessions by the key that the plugin made of their files' names."""
    return {hashlib.sha256(s.source.encode()).hexdigest()[:16]: s for s in sessions}


async def adopt(desk: Desk) -> Tally:
    """Put our cursor behind the last message that each session's cursor counts."""
    tally = Tally("retain cursors")
    known = by_key(desk.sessions)
    for _, path in desk.kept(FILE):
        try:
            cursors = read_object(path).get("sessions")
        except ValueError as error:
            tally.left.append(str(error))
            continue
        for key, cursor in cursors.items() if isinstance(cursors, dict) else ():
            session = known.get(key)
            if session is None:
                tally.left.append(f"{path}: the session {key} is not among those that pi has kept")
                continue
            try:
                await _session(desk, session, cursor, tally)
            except HindsightError as error:
                tally.left.append(f"{session.source}: {error}")
    return tally


async def _session(desk: Desk, session: PastSession, cursor: object, tally: Tally) -> None:
    place = desk.part(session).place
    if place.bank is None:
        tally.left.append(f"{session.source}: {place.reason}")
        return
    runtime = desk.runtime(place)
    transcript = named(runtime, await asyncio.to_thread(session.read, None))
    # The oldest form is a list of fingerprints.
    form = {"fingerprints": cursor} if isinstance(cursor, list) else cursor
    ids = retained_ids(form if isinstance(form, dict) else {}, active_path(transcript.entries))
    if not ids:
        return
    through = until(transcript, ids[-1])
    if not await unseen_of(runtime, transcript, through):
        tally.known += 1
        return
    tally.adopted += 1
    if not desk.dry_run:
        await runtime.memorizer.pass_over(through)
