"""What pi-hindsight has memorized of pi's sessions: watermarks and saved ranges (pi/M-04)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from hindsight_core.errors import HindsightError
from hindsight_core.importing.state.desk import Tally
from hindsight_core.memorize.inherited import inherited
from hindsight_core.transcript.path import active_path

if TYPE_CHECKING:
    from hindsight_core.importing.state.desk import Desk
    from hindsight_core.runtime import Runtime
    from hindsight_core.transcript.entry import Transcript
    from hindsight_core.transcript.past import PastSession


async def adopt(desk: Desk) -> Tally:
    """Put our cursor where each session's watermark is."""
    tally = Tally("watermarks of sessions")
    for session in desk.sessions:
        place = desk.part(session).place
        if place.bank is None:
            continue
        try:
            await _session(desk, session, desk.runtime(place), tally)
        except HindsightError as error:
            tally.left.append(f"{session.source}: {error}")
    return tally


async def _session(desk: Desk, session: PastSession, runtime: Runtime, tally: Tally) -> None:
    transcript = named(runtime, await asyncio.to_thread(session.read, None))
    path = active_path(transcript.entries)
    found = inherited(path)
    if found.watermark is None and not found.ranges:
        return
    bank, own = runtime.bank_id, transcript.session_id
    ranges = await runtime.sessions.saved_ranges(bank, own)
    through = until(transcript, found.watermark) if found.watermark else None
    done = through is None or not await unseen_of(runtime, transcript, through)
    if done and (ranges or not found.ranges):
        tally.known += 1
        return
    tally.adopted += 1
    if desk.dry_run:
        return
    if through is not None and not done:
        await runtime.memorizer.pass_over(through)
    if found.ranges and not ranges:
        identify = runtime.sanitiser.entry_id
        clean = [(first and identify(first), identify(last)) for first, last in found.ranges]
        await runtime.sessions.set_saved_ranges(bank, own, clean)


def named(runtime: Runtime, transcript: Transcript) -> Transcript:
    """A transcript under the name by which its session is known here."""
    return replace(transcript, session_id=runtime.sanitiser.entry_id(transcript.session_id))


def until(transcript: Transcript, entry_id: str) -> Transcript:
    """A session up to and with an entry of its path."""
    path = active_path(transcript.entries)
    ids = [entry.id for entry in path]
    return replace(transcript, entries=tuple(path[: ids.index(entry_id) + 1]))


async def unseen_of(runtime: Runtime, whole: Transcript, through: Transcript) -> bool:
    """Whether something of a session's beginning is not dealt with yet."""
    unseen = {entry.id for entry in await runtime.memorizer.unseen(whole)}
    identify = runtime.sanitiser.entry_id
    return any(identify(entry.id) in unseen for entry in through.entries)
