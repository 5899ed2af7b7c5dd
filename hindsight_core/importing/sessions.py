"""Past sessions through the memorize pipeline: what is new in each, oldest first, once.

Where an import stood is where the memory of a session stands anyhow: its cursor, written in the
same transaction as each document. So it can be broken off at any point and begun again, and a
session that was memorized while it ran costs nothing.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hindsight_core.budget import estimate_tokens, work
from hindsight_core.errors import HindsightError
from hindsight_core.importing.runtimes import Runtimes
from hindsight_core.services import Clock, utc_now
from hindsight_core.transcript.path import active_path
from hindsight_core.transcript.projections import memorize_text

if TYPE_CHECKING:
    from hindsight_core.importing.filing import Part
    from hindsight_core.memorize.runner import MemorizeReport
    from hindsight_core.runtime import Runtime
    from hindsight_core.transcript.entry import Entry, Transcript

logger = logging.getLogger("hindsight_core.importing")
REASON = "import"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one session came to.

    Attributes:
        part: The session, and where it goes.
        entries: How many of its entries were not memorized yet.
        tokens: About how many tokens of talk that is.
        reports: What each of its windows came to; none for a dry run or when nothing was new.
        error: Why it could not be read or memorized.
        used: Tokens that models used for it.
        over_budget: The rest of it waits, because the import's budget is used up.
    """

    part: Part
    entries: int = 0
    tokens: int = 0
    reports: Sequence[MemorizeReport] = ()
    error: str | None = None
    used: int = 0
    over_budget: bool = False


@dataclass
class SessionImport:
    """One run over sessions.

    Attributes:
        parts: What to import, each with a bank.
        env: The environment.
        budget: Tokens that models may use for all of it; None for no limit.
        clock: Aware UTC now.
        used: Tokens that models have used.
        left: Sessions that were not looked at, because the budget was used up.
    """

    parts: Sequence[Part]
    env: Mapping[str, str]
    budget: int | None = None
    clock: Clock = utc_now
    used: int = 0
    left: int = 0

    def __post_init__(self) -> None:
        self._runtimes = Runtimes(self.env, clock=self.clock)
        self._looking = False

    async def look(self) -> AsyncIterator[Outcome]:
        """What a run would have to do; nothing is written."""
        self._looking = True
        async for part in self._in_order():
            outcome, _ = await self._looked(part)
            yield outcome

    async def run(self) -> AsyncIterator[Outcome]:
        """Memorize what is new, bank by bank."""
        exhausted = False
        async for part in self._in_order():
            if exhausted:
                self.left += 1
                continue
            outcome, transcript = await self._looked(part)
            if transcript is None or not outcome.entries:
                yield outcome
                continue
            limit = None if self.budget is None else self.budget - self.used
            with work(explicit=True, limit=limit) as unit:
                outcome = await self._memorize(outcome, transcript)
            self.used += unit.tokens
            exhausted = unit.exhausted
            yield replace(outcome, used=unit.tokens, over_budget=exhausted)

    async def close(self) -> None:
        """Release what was opened."""
        await self._runtimes.close()

    async def _in_order(self) -> AsyncIterator[Part]:
        """Bank by bank, so that few are open at once; in each the oldest session first."""
        bank: str | None = None
        order = sorted(self.parts, key=lambda p: (p.place.bank or "", p.session.updated))
        for part in origins_first(order):
            if part.place.bank != bank:
                await self.close()
                bank = part.place.bank
            yield part

    async def _looked(self, part: Part) -> tuple[Outcome, Transcript | None]:
        runtime = self._runtimes.of(part.place)
        try:
            # Files may be large, and a progress bar has to move.
            transcript = await asyncio.to_thread(part.session.read, part.agents)
            # A host may name its session by anything; the name is written to many places.
            named = runtime.sanitiser.entry_id(transcript.session_id)
            transcript = replace(transcript, session_id=named)
            fresh = await self._fresh(runtime, transcript, part)
        except HindsightError as error:
            return Outcome(part, error=str(error)), None
        except Exception as error:
            # What is wrong with one session, or with the reader of a third party, stops no other.
            logger.exception("a past session could not be read")
            return Outcome(part, error=f"{type(error).__name__}: {error}"), None
        tokens = sum(estimate_tokens(memorize_text(entry)) for entry in fresh)
        return Outcome(part, entries=len(fresh), tokens=tokens), transcript

    async def _fresh(
        self, runtime: Runtime, transcript: Transcript, part: Part
    ) -> tuple[Entry, ...]:
        """What nobody has dealt with, of a fork only what its origin does not hold."""
        fresh = await runtime.memorizer.unseen(transcript)
        origin = part.session.forked_from
        path = active_path(transcript.entries)
        if origin is None or len(fresh) < len(path):
            return fresh
        identify = runtime.sanitiser.entry_id
        ids = [identify(entry.id) for entry in path]
        last = await runtime.sessions.cursor(runtime.bank_id, identify(origin), path=ids)
        if last is None:
            return fresh
        through = ids.index(last) + 1
        if not self._looking:
            await runtime.memorizer.pass_over(replace(transcript, entries=path[:through]))
        return tuple(path[through:])

    async def _memorize(self, outcome: Outcome, transcript: Transcript) -> Outcome:
        runtime = self._runtimes.of(outcome.part.place)
        try:
            reports = await runtime.memorizer.remember_transcript(transcript, reason=REASON)
        except HindsightError as error:
            return replace(outcome, error=str(error))
        for report in reports:
            runtime.record(report, session=transcript.session_id)
        return replace(outcome, reports=tuple(reports))


def origins_first(parts: Sequence[Part]) -> list[Part]:
    """Parts in their order, but a session that another one was forked from before that one."""
    by_id = {(p.session.host, p.session.session_id, p.place.bank): p for p in parts}
    done: dict[int, Part] = {}

    def take(part: Part, behind: frozenset[int]) -> None:
        origin = by_id.get((part.session.host, part.session.forked_from or "", part.place.bank))
        if origin is not None and id(origin) not in behind:
            take(origin, behind | {id(part)})
        done.setdefault(id(part), part)

    for part in parts:
        take(part, frozenset())
    return list(done.values())
