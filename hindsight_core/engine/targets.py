"""The banks that a session's windows go to: the project's, and others with a role of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hindsight_core.engine.deciding import Deciding
    from hindsight_core.memorize.report import MemorizeReport
    from hindsight_core.runtime import Runtime
    from hindsight_core.transcript.entry import Transcript


class Targets:
    """Memorizes into each bank that a window goes to; every bank has a cursor of its own.

    Args:
        runtime: The opened configuration.
        deciding: Says which banks a window goes to.
    """

    def __init__(self, runtime: Runtime, deciding: Deciding) -> None:
        self._runtime = runtime
        self._deciding = deciding

    @property
    def others(self) -> tuple[str, ...]:
        """Banks besides the project's that may be written."""
        own = self._runtime.bank_id
        return tuple(e.id for e in self._deciding.entries if e.writable and e.id != own)

    async def remember(
        self, transcript: Transcript, *, reason: str
    ) -> list[tuple[str, MemorizeReport]]:
        """Reports by bank; a bank that a window does not go to passes over it (s1/S-RET-3).

        What was passed over is not offered again (s1/S-DEC-8).
        """
        runtime = self._runtime
        if await self._is_known(transcript):
            return []
        said = runtime.sanitiser.entries(transcript.entries)
        chosen = await self._deciding.write(said, transcript.entries)
        found: list[tuple[str, MemorizeReport]] = []
        for bank in chosen:
            memorizer = runtime.memorizer_of(bank)
            reports = await memorizer.remember_transcript(transcript, reason=reason)
            found += [(bank, report) for report in reports]
        for bank in self._deciding.passed_over(chosen):
            await self._pass(bank, transcript)
        return found

    async def _is_known(self, transcript: Transcript) -> bool:
        """Whether every bank has dealt with all of it: then nobody need decide about it."""
        if not self._deciding.gates_writes:
            return False
        for entry in self._deciding.entries:
            if entry.writable and entry.writes != "explicit-only":
                memorizer = self._runtime.memorizer_of(entry.id)
                if not await memorizer.is_known(transcript):
                    return False
        return True

    async def _pass(self, bank: str, transcript: Transcript) -> None:
        await self._runtime.memorizer_of(bank).pass_over(transcript)
