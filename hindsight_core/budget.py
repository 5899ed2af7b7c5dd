"""Counts model calls and tokens by stage, and holds automatic work to its budget."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, Protocol

from hindsight_core.errors import BudgetExceeded
from hindsight_core.tokens import CHARACTERS_PER_TOKEN

if TYPE_CHECKING:
    from hindsight_core.services import Clock

_LOG = logging.getLogger(__name__)


@dataclass(slots=True)
class Counts:
    """What one stage has used.

    Attributes:
        calls: Calls that reached a provider, the failed ones too.
        failures: How many of them failed.
        estimated: Calls whose tokens the provider did not tell; they are counted by length.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    failures: int = 0
    estimated: int = 0


class UsageTotal(Protocol):
    """A sum that a sink gives."""

    @property
    def input_tokens(self) -> int: ...  # noqa: D102
    @property
    def output_tokens(self) -> int: ...  # noqa: D102


class UsageSink(Protocol):
    """Where counts outlive the process: `hindsight_core.state.usage.UsageStore`."""

    async def add(
        self, day: date, stage: str, session: str | None, calls: int, input: int, output: int
    ) -> None:
        """Add to the counts of a day (UTC), stage and session; ``input`` and ``output`` tokens."""
        ...

    async def total(self, *, day: date | None, session_id: str | None) -> UsageTotal:
        """The sum over a day, a session, both or everything."""
        ...


@dataclass(slots=True)
class Work:
    """One unit of work, such as a turn; calls made inside of it count towards it.

    Attributes:
        limit: Tokens that it may use, explicit or not; None for no limit of its own.
        calls: Calls so far.
        tokens: Tokens so far, read and written.
        exhausted: A call was refused because of ``limit``.
        admitted: Calls so far with those under way.
    """

    session_id: str | None = None
    explicit: bool = False
    per_turn: bool = False
    limit: int | None = None
    outer: Work | None = None
    calls: int = 0
    tokens: int = 0
    exhausted: bool = False
    admitted: int = 0

    def units(self) -> Iterator[Work]:
        """This one and those around it."""
        unit: Work | None = self
        while unit is not None:
            yield unit
            unit = unit.outer


_work: ContextVar[Work | None] = ContextVar("hindsight_work", default=None)


@contextmanager
def work(
    *,
    session_id: str | None = None,
    explicit: bool = False,
    per_turn: bool = False,
    limit: int | None = None,
) -> Iterator[Work]:
    """Say what the model calls inside belong to; blocks may stand in one another.

    Args:
        session_id: The session that they count towards.
        explicit: The user or the agent asked for it: no budget holds it back.
        per_turn: It is one turn, to which ``budget.calls_per_turn`` applies.
        limit: Tokens that whoever asked for it allows, such as for an import.
    """
    outer = _work.get()
    unit = Work(
        session_id=session_id or (outer.session_id if outer else None),
        explicit=explicit or (outer is not None and outer.explicit),
        per_turn=per_turn,
        limit=limit,
        outer=outer,
    )
    token = _work.set(unit)
    try:
        yield unit
    finally:
        _work.reset(token)


def working_session() -> str | None:
    """The session that this code works for; None outside of one."""
    unit = _work.get()
    return unit.session_id if unit is not None else None


def estimate_tokens(text: str) -> int:
    """Tokens of a text when nobody counted them: a token is about four characters."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


class Meter:
    """Counts every model call by stage, in memory and in a sink.

    Args:
        clock: Aware UTC now; days are UTC days.
        sink: Keeps the counts; a failing sink costs nothing but the counts.
    """

    def __init__(self, *, clock: Clock, sink: UsageSink | None = None) -> None:
        self.clock = clock
        self.sink = sink
        self.stages: dict[str, Counts] = {}
        self.sessions: dict[str, int] = {}
        self.days: dict[date, int] = {}
        self._waiting: dict[tuple[date, str, str | None], Counts] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def record(
        self,
        stage: str,
        *,
        input_tokens: int = 0,
        output_tokens: int = 0,
        session_id: str | None = None,
        failed: bool = False,
        estimated: bool = False,
    ) -> None:
        """Count one call that reached a provider."""
        unit = _work.get()
        session = session_id or (unit.session_id if unit else None)
        key = (self.clock().date(), stage, session)
        for counts in (
            self.stages.setdefault(stage, Counts()),
            self._waiting.setdefault(key, Counts()),
        ):
            counts.calls += 1
            counts.input_tokens += input_tokens
            counts.output_tokens += output_tokens
            counts.failures += failed
            counts.estimated += estimated
        used = input_tokens + output_tokens
        self.days[key[0]] = self.days.get(key[0], 0) + used
        if session is not None:
            self.sessions[session] = self.sessions.get(session, 0) + used
        for around in unit.units() if unit else ():
            around.calls += 1
            around.tokens += used
        self._schedule()

    def snapshot(self) -> Mapping[str, Mapping[str, int]]:
        """Counts of this process by stage, in the form of ``status/get``."""
        return {
            stage: {
                "calls": counts.calls,
                "inputTokens": counts.input_tokens,
                "outputTokens": counts.output_tokens,
            }
            for stage, counts in sorted(self.stages.items())
        }

    async def flush(self) -> None:
        """Hand what is waiting to the sink; never raises."""
        waiting, self._waiting = self._waiting, {}
        if self.sink is None:
            return
        for (day, stage, session), counts in waiting.items():
            try:
                await self.sink.add(
                    day, stage, session, counts.calls, counts.input_tokens, counts.output_tokens
                )
            except Exception as error:
                _LOG.warning("usage of %s could not be kept: %s", stage, error)

    async def close(self) -> None:
        """Finish what is being written; never raises."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.flush()

    def _schedule(self) -> None:
        if self.sink is None:
            return
        with suppress(RuntimeError):  # no running loop: close() writes it
            task = asyncio.get_running_loop().create_task(self.flush())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)


class Budget:
    """Limits of automatic work; None is no limit.

    Args:
        meter: What has been used.
        limits: The ``budget`` section: ``tokens_per_day``, ``tokens_per_session``,
            ``calls_per_turn``.
    """

    def __init__(self, meter: Meter, limits: Any) -> None:  # noqa: ANN401 (any object with the keys)
        self._meter = meter
        self._day_limit: int | None = limits.tokens_per_day
        self._session_limit: int | None = limits.tokens_per_session
        self._turn_limit: int | None = limits.calls_per_turn

    async def check(self, *, session_id: str | None = None, tokens: int = 0) -> None:
        """Before a call.

        Args:
            session_id: The session that it counts towards.
            tokens: About how many the call may cost.

        Raises:
            BudgetExceeded: Automatic work has used it up (explicit work is never held back), or
                the call may pass what a unit of work was allowed.
        """
        unit = _work.get() or Work()
        for around in unit.units():
            if around.limit is not None and around.tokens + tokens > around.limit:
                around.exhausted = True
                raise BudgetExceeded(
                    f"{around.tokens} of the {around.limit} tokens that were allowed are used: "
                    "the next call may pass them"
                )
        if unit.explicit:
            return
        turns = [around for around in unit.units() if around.per_turn]
        made = max((max(turn.calls, turn.admitted) for turn in turns), default=-1)
        if self._turn_limit is not None and made >= self._turn_limit:
            cap = f"budget.calls_per_turn = {self._turn_limit}"
            raise BudgetExceeded(f"this turn has made {made} model calls ({cap})")
        for turn in turns:
            turn.admitted += 1
        session = session_id or unit.session_id
        if session is not None and self._session_limit is not None:
            used = await self._used(session=session)
            if used >= self._session_limit:
                raise BudgetExceeded(
                    f"this session has used {used} tokens (budget.tokens_per_session = "
                    f"{self._session_limit}): automatic memory rests until the next session, "
                    "commands go on"
                )
        if self._day_limit is not None and (used := await self._used()) >= self._day_limit:
            raise BudgetExceeded(
                f"{used} tokens were used today (budget.tokens_per_day = {self._day_limit}): "
                "automatic memory rests until midnight UTC, commands go on"
            )

    async def _used(self, *, session: str | None = None) -> int:
        """Tokens of today, or of a session: from the sink, which other processes share."""
        meter = self._meter
        today = meter.clock().date()
        own = meter.days.get(today, 0) if session is None else meter.sessions.get(session, 0)
        if meter.sink is None:
            return own
        await meter.flush()
        try:
            total = await meter.sink.total(
                day=today if session is None else None, session_id=session
            )
        except Exception as error:
            _LOG.warning("the usage so far could not be read: %s", error)
            return own
        return max(own, total.input_tokens + total.output_tokens)
