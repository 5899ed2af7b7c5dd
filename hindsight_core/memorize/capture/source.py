"""The source ``candidates``: each message and each run of a session once."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from hindsight_core.errors import AnswerError, HindsightError
from hindsight_core.memorize.capture.capture import Capture, Looked
from hindsight_core.memorize.capture.runs import investigations, messages
from hindsight_core.memorize.report import MemorizeReport
from hindsight_core.memorize.run import Run, running
from hindsight_core.memorize.sessions import EXPLICIT
from hindsight_core.state.captured import Captured
from hindsight_core.transcript.path import active_path

if TYPE_CHECKING:
    from hindsight_core.memorize.lifecycle.keeper import Keeper
    from hindsight_core.memorize.parts import Parts
    from hindsight_core.transcript.entry import Entry, Transcript

logger = logging.getLogger("hindsight_core.memorize")
# A session that is met for the first time in the middle is not gone through from its beginning.
MOST_AT_ONCE = 8
# What waited through an outage comes in parts.
MOST_IN_A_RUN = 24
NOTHING = "no memory in what was said"


@dataclass(frozen=True, slots=True)
class _Job:
    """One message or run to look at."""

    key: str
    entry: Entry
    look: Callable[[], Awaitable[Looked]]


class CandidateSource:
    """What of a session was not looked at yet.

    Args:
        parts: Bank, settings, sanitiser, side table.
        capture: Looks at one message or run.
        keeper: Tells what happens.
    """

    def __init__(self, parts: Parts, capture: Capture, keeper: Keeper) -> None:
        self._parts = parts
        self._capture = capture
        self._tell = keeper.sink
        self._marks = Captured(parts.sessions.database, parts.clock)

    async def retain(self, transcript: Transcript, *, reason: str) -> list[MemorizeReport]:
        """Look at what is new on the active path, oldest first.

        Args:
            transcript: The whole active path.
            reason: Why now; explicit ones go through all of it, others through its newest part.

        Returns:
            One report, none when nothing is new. What failed holds nothing else up and is tried
            again with the next call; what fails by itself, with a model that answers, three times.
        """
        jobs = await self._due(transcript, all_of_it=reason in EXPLICIT)
        if not jobs:
            return []
        looked: list[Looked] = []
        failed: str | None = None
        with running(Run()) as run:
            for job in jobs:
                try:
                    looked.append(await job.look())
                except HindsightError as error:
                    failed = failed or str(error)
                    self._tell("capture.error", {"error": type(error).__name__})
                    logger.info("a message could not be looked at: %s", error)
                    if _is_its_own(error):
                        await self._marks.tried(self._parts.bank.id, job.key)
                else:
                    await self._marks.settle(self._parts.bank.id, [job.key])
        return [_report(looked, failed=failed, calls=run.calls)]

    async def unseen(self, transcript: Transcript) -> tuple[Entry, ...]:
        """Messages, and requests of runs, that were not looked at."""
        return tuple(job.entry for job in await self._due(transcript, all_of_it=True))

    async def pass_over(self, transcript: Transcript) -> None:
        """Nothing of a session so far goes into this bank, now or later."""
        jobs = await self._due(transcript, all_of_it=True)
        await self._marks.settle(self._parts.bank.id, [job.key for job in jobs])

    async def _due(self, transcript: Transcript, *, all_of_it: bool) -> list[_Job]:
        entries = self._parts.sanitiser.entries(active_path(transcript.entries))
        session, host = transcript.session_id, transcript.host
        said, runs = messages(entries), investigations(entries)
        looks = self._capture
        jobs = [
            *(
                _Job(m.key, m.entry, partial(looks.message, m, session_id=session, host=host))
                for m in said
            ),
            *(
                _Job(r.key, r.request, partial(looks.run, r, session_id=session, host=host))
                for r in runs
            ),
        ]
        done = await self._marks.settled(self._parts.bank.id, [job.key for job in jobs])
        due = [job for job in jobs if job.key not in done]
        if all_of_it or not due:
            return due
        bank, keys = self._parts.bank.id, [job.key for job in due]
        wanted = {m.key for m in said[-MOST_AT_ONCE:]} | {r.key for r in runs[-1:]}
        wanted |= await self._marks.waiting(bank, keys)
        await self._marks.settle(bank, [key for key in keys if key not in wanted])
        await self._marks.note(bank, [key for key in keys if key in wanted])
        return [job for job in due if job.key in wanted][:MOST_IN_A_RUN]


def _is_its_own(error: HindsightError) -> bool:
    """Whether trying it again is likely to fail again: not so while something is away."""
    return isinstance(error, AnswerError) or not getattr(error, "retryable", True)


def _report(looked: Sequence[Looked], *, failed: str | None, calls: int) -> MemorizeReport:
    written = [item for one in looked for item in one.written]
    rejected = tuple(reason for one in looked for reason in one.rejected)
    stored = [item for item in written if item.memory is not None]
    facts = tuple(item.memory.fact for item in stored if item.memory)
    known = sum(item.outcome == "known" for item in written)
    documents = [fact.document_id for fact in facts if fact.document_id]
    outcome, reason = "stored", None
    if failed is not None:
        outcome, reason = "failed", failed
    elif stored and any(item.outcome == "queued" for item in stored):
        outcome, reason = "queued", next((i.reason for i in stored if i.reason), None)
    elif not stored:
        outcome = "known" if known else "empty"
        reason = next((i.reason for i in written if i.reason), NOTHING)
    return MemorizeReport(
        outcome=outcome,  # type: ignore[arg-type]
        document_id=documents[0] if documents else None,
        stored=facts,
        known=known,
        superseded=sum(not item.created for item in stored),
        reason=reason,
        calls=calls,
        rejected=rejected,
    )
