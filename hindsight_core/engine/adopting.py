"""Takes over where another plugin's retention of a session stood (s1/S-CUR-4)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from hindsight_core.errors import HindsightError
from hindsight_core.transcript.entry import Transcript

if TYPE_CHECKING:
    from hindsight_core.engine.live import LiveSession

# Its documents are there: for any other bank nothing of the session is stored yet.
BACKEND = "hindsight"


async def adopt(live: LiveSession) -> None:
    """Once a session, before anything of it is written; trouble is told, never raised."""
    session, loaded = live.opening.session, live.runtime.loaded
    mode = live.runtime.settings.memorize.mode
    if session.file is None or "transcript" not in mode or not live.path.entries:
        return
    if not loaded.project.trusted or live.runtime.bank.backend != BACKEND:
        return
    from hindsight_core.memorize.transcript.adopted import cursor_of

    folder = loaded.project.root or session.cwd
    try:
        cursor = await asyncio.to_thread(cursor_of, session.file, folder)
        if cursor is not None:
            transcript = Transcript(session.id, live.host, live.path.entries)
            await live.runtime.memorizer.adopt(transcript, cursor)
    except HindsightError as error:
        live.notices.trouble("cursor", f"Part of this session may be stored twice: {error}")
