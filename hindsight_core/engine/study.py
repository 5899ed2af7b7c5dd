"""A task to study something for the memory: what the agent says during it is stored already.

From the ``/mem-retain`` to the end of the agent's run in which it called the retain tool (pi/M-23,
pi/D-10). That range is marked as saved, so that memorizing does not extract it a second time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hindsight_core.errors import HindsightError

if TYPE_CHECKING:
    from hindsight_core.engine.live import LiveSession
    from hindsight_core.state.sessions import Range

TOOL = "hindsight_retain"
KEPT = ("stored", "known", "queued")
MOST_RUNS = 3
"""A study that has not stored anything after so many runs of the agent is over."""


class Study:
    """The open range of one session, if there is one.

    Args:
        live: The session.
    """

    def __init__(self, live: LiveSession) -> None:
        self._live = live
        self._runs = 0
        self._start: str | None = None
        self._stored = False

    def begin(self) -> None:
        """The range starts behind what was said so far."""
        path = self._live.path.entries
        self._start = path[-1].id if path else None
        self._runs, self._stored = MOST_RUNS, False

    def called(self, tool: str, details: Mapping[str, Any]) -> None:
        """The agent has used a tool."""
        if tool == TOOL and details.get("outcome") in KEPT:
            self._stored = self._runs > 0

    async def run_ended(self) -> None:
        """The agent has settled: close the range when it has stored something."""
        if not self._runs:
            return
        self._runs -= 1
        if not self._stored:
            return
        self._runs = 0
        path = self._live.path.entries
        if not path or path[-1].id == self._start:
            return
        name = self._live.runtime.sanitiser.entry_id
        start = None if self._start is None else name(self._start)
        try:
            await self._keep((start, name(path[-1].id)))
        except HindsightError as error:
            self._live.notices.trouble("state", f"What was studied may be stored twice: {error}")

    async def _keep(self, found: Range) -> None:
        runtime, session = self._live.runtime, self._live.opening.session.id
        ranges = await runtime.sessions.saved_ranges(runtime.bank_id, session)
        await runtime.sessions.set_saved_ranges(runtime.bank_id, session, [*ranges, found])
