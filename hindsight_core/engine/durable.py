"""What of a session is on disk before it is memorized: its journal and its lease."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from typing import TYPE_CHECKING

from hindsight_core.errors import HindsightError

if TYPE_CHECKING:
    from hindsight_core.engine.notices import Notices
    from hindsight_core.runtime import Runtime
    from hindsight_core.transcript.entry import Entry

_AT_ONCE = 10


class Durable:
    """The journal of one session; trouble with it is told, never raised.

    Args:
        runtime: The opened configuration.
        notices: Where trouble is told.
        session_id: The session.
        host: The agent program's name.
    """

    def __init__(self, runtime: Runtime, *, notices: Notices, session_id: str, host: str) -> None:
        self._runtime = runtime
        self._notices = notices
        self._session_id = session_id
        self._host = host
        self._project = runtime.loaded.project.name
        self._leased = False

    async def begin(self) -> None:
        """This process runs the session: nobody else may take it for dead."""
        self._leased = await self._safely(
            self._runtime.journal.lease(
                self._runtime.bank_id, self._session_id, host=self._host, project=self._project
            ),
            "Turns of this session may not survive a crash",
        )

    async def write(self, entries: Sequence[Entry]) -> None:
        """Make entries of the active path durable, sanitised (br/BR-11)."""
        clean = await self._sanitised(entries)
        if not clean:
            return
        self._leased |= await self._safely(
            self._runtime.journal.append(
                self._runtime.bank_id,
                self._session_id,
                clean,
                host=self._host,
                project=self._project,
            ),
            "This turn is not safe on disk",
        )

    async def _sanitised(self, entries: Sequence[Entry]) -> list[Entry]:
        """Entries without what must not be written; other sessions of this process go on."""
        clean = []
        for number, entry in enumerate(entries, start=1):
            if (kept := self._runtime.sanitiser.entry(entry)) is not None:
                clean.append(kept)
            if number % _AT_ONCE == 0:
                await asyncio.sleep(0)
        return clean

    async def end(self) -> None:
        """The session is over here; what is left in the journal is free to be recovered."""
        if self._leased:
            await self._safely(
                self._runtime.journal.release(self._runtime.bank_id, self._session_id),
                "The session's end could not be noted",
            )

    async def _safely(self, work: Awaitable[object], what: str) -> bool:
        try:
            await work
        except HindsightError as error:
            self._notices.trouble("state", f"{what}: {error}")
            return False
        return True
