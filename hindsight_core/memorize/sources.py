"""What the sources of a session have dealt with, each in its own way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindsight_core.memorize.transcript.source import IDLE

if TYPE_CHECKING:
    from hindsight_core.config.settings import Settings
    from hindsight_core.memorize.capture.source import CandidateSource
    from hindsight_core.memorize.report import MemorizeReport
    from hindsight_core.memorize.sessions import SessionWindows
    from hindsight_core.memorize.transcript.source import TranscriptSource
    from hindsight_core.transcript.entry import Entry, Transcript


class Sources:
    """The sources that ``memorize.mode`` names.

    Args:
        settings: ``memorize.mode``; ``candidates`` needs ``capture`` or ``investigation``.
        windows: Cuts what ``distill`` and plugins look at.
        transcripts: Sends what was said.
        candidates: Looks at messages and runs.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        windows: SessionWindows,
        transcripts: TranscriptSource,
        candidates: CandidateSource,
    ) -> None:
        off = not (settings.capture.enabled or settings.investigation.enabled)
        self._mode = frozenset(settings.memorize.mode) - ({"candidates"} if off else set())
        self._windows = windows
        self._transcripts = transcripts
        self._candidates = candidates

    @property
    def has_windows(self) -> bool:
        """Whether anything looks at windows; plugins may, where the transcript is not all."""
        return self._mode != {"transcript"}

    @property
    def has_candidates(self) -> bool:
        """Whether messages or runs are looked at."""
        return "candidates" in self._mode

    async def entry_by_entry(self, transcript: Transcript, *, reason: str) -> list[MemorizeReport]:
        """Run those that need no windows."""
        found: list[MemorizeReport] = []
        if self.has_candidates:
            found += await self._candidates.retain(transcript, reason=reason)
        if "transcript" in self._mode:
            alone = not self.has_windows
            found += await self._transcripts.retain(transcript, reason=reason, alone=alone)
        return found

    def clears(self, reason: str) -> bool:
        """Whether a run without a failure has dealt with all that the journal keeps.

        The transcript source drops from it what it has sent, and waits with the rest.
        """
        return self._mode == {"candidates"} or (reason != IDLE and self.has_windows)

    async def pass_over(self, transcript: Transcript) -> None:
        """Nothing of a session so far is for any of them."""
        if self.has_candidates:
            await self._candidates.pass_over(transcript)
        await self._transcripts.pass_over(transcript)
        await self._windows.pass_over(transcript)

    async def unseen(self, transcript: Transcript) -> tuple[Entry, ...]:
        """What of a session one of them has not dealt with yet."""
        found: list[Entry] = []
        if self.has_candidates:
            found += await self._candidates.unseen(transcript)
        if "transcript" in self._mode:
            found += await self._transcripts.unseen(transcript)
        if self.has_windows and self._mode != {"candidates"}:
            found += await self._windows.unseen(transcript)
        return tuple({entry.id: entry for entry in found}.values())
