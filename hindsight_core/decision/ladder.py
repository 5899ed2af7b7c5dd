"""The ladder: one's own policy first, then the configured backends, until one answers all."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from hindsight_core.errors import BreakerOpen, ConfigError
from hindsight_core.isolation import Overdue, call_async
from hindsight_core.plugins.registries import CORE
from hindsight_core.providers.breaker import Breaker

if TYPE_CHECKING:
    from hindsight_core.decision.base import DecisionBackend
    from hindsight_core.hookspecs import DecisionRequest
    from hindsight_core.plugins import Hooks
    from hindsight_core.services import Clock

logger = logging.getLogger("hindsight_core.decision")
HOOK = "hindsight_decide"
Failure = Literal["not-set-up", "timeout", "error", "incomplete", "paused"]


@dataclass(frozen=True, slots=True)
class Attempt:
    """A rung that did not answer.

    Attributes:
        backend: Its name.
        failure: Which way it failed.
        reason: What it said.
    """

    backend: str
    failure: Failure
    reason: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A complete answer.

    Attributes:
        answers: One bool for each question asked.
        backend: Who answered; ``hindsight_decide`` for a plugin's policy.
        attempt: On which rung, from 1.
        extra: Ids that were answered and that nobody asked.
        failed: Rungs above it that did not answer.
    """

    answers: Mapping[str, bool]
    backend: str
    attempt: int = 1
    extra: tuple[str, ...] = ()
    failed: tuple[Attempt, ...] = ()


class NoAnswer(Exception):
    """Every rung failed; ``attempts`` says how."""

    def __init__(self, attempts: Sequence[Attempt]) -> None:
        super().__init__("; ".join(f"{a.backend}: {a.reason}" for a in attempts) or "no backend")
        self.attempts = tuple(attempts)


class Ladder:
    """Asks in order (s1/S-DEC-6).

    A rung that raises, is late, leaves a question out or gives something else than a bool has
    failed, and the next one is asked. Three failures in a row pause a rung for 30 seconds.

    Args:
        hooks: For `hindsight_decide` and for messages about plugins.
        create: Makes a backend by its registered name.
        names: Backends in their order (``decision.backends``).
        timeout_s: Limit of one rung.
        clock: For the pauses.
    """

    def __init__(
        self,
        hooks: Hooks,
        create: Callable[[str], DecisionBackend],
        *,
        names: Sequence[str],
        timeout_s: float,
        clock: Clock,
    ) -> None:
        self._hooks = hooks
        self._create = create
        self._names = tuple(names)
        self._timeout_s = timeout_s
        self._clock = clock
        self._made: dict[str, DecisionBackend] = {}
        self._breakers: dict[str, Breaker] = {}

    async def ask(self, request: DecisionRequest) -> Answer:
        """The first complete answer.

        Raises:
            NoAnswer: No rung gave one.
        """
        policy = await self._hooks.decide(request)
        if policy is not None:
            return Answer(policy, HOOK)
        failed: list[Attempt] = []
        for number, name in enumerate(self._names, start=1):
            try:
                given = await self._rung(name, request)
                answers, extra = complete(given, request.questions)
                self._breaker(name).success()
                return Answer(answers, name, number, extra, tuple(failed))
            except Exception as error:
                failed.append(self._failed(name, error))
        raise NoAnswer(failed)

    async def close(self) -> None:
        """Release what backends hold."""
        for backend in self._made.values():
            if (close := getattr(backend, "close", None)) is not None and inspect.isawaitable(
                closing := close()
            ):
                await closing
        self._made.clear()

    async def _rung(self, name: str, request: DecisionRequest) -> object:
        self._breaker(name).check()
        backend = self._made.get(name)
        if backend is None:
            backend = self._made[name] = self._create(name)
        asks = dict(request.asks)
        if self._hooks.decision_backends[name].distribution == CORE:
            async with asyncio.timeout(self._timeout_s):
                return await _value(backend.answer(request, asks))
        arguments = {"state": request, "questions": asks}
        return await call_async(
            backend.answer, arguments, seconds=self._timeout_s, stuck=lambda change: None
        )

    def _failed(self, name: str, error: Exception) -> Attempt:
        attempt = Attempt(name, _kind(error), self._reason(error))
        logger.info("decision backend %s did not answer: %s", name, attempt.reason)
        breaker = self._breaker(name)
        if attempt.failure in ("not-set-up", "paused"):
            breaker.abandon()
        else:
            breaker.failure(attempt.reason)
        return attempt

    def _reason(self, error: Exception) -> str:
        if isinstance(error, TimeoutError | Overdue):
            ms = round(self._timeout_s * 1000)
            return f"no answer within {ms} ms (decision.timeout_ms)"
        text = " ".join(str(error).split())[:300]
        return text or type(error).__name__

    def _breaker(self, name: str) -> Breaker:
        if name not in self._breakers:
            self._breakers[name] = Breaker(f"decision backend {name}", clock=self._clock)
        return self._breakers[name]


class Incomplete(Exception):
    """An answer that leaves a question out, or is no mapping of ids to bools."""


def complete(given: object, questions: Sequence[str]) -> tuple[dict[str, bool], tuple[str, ...]]:
    """The answers to what was asked, and the ids that nobody asked (s1/S-DEC-3).

    Raises:
        Incomplete: A question has no answer, or one that is no bool: that is not a no.
    """
    if not isinstance(given, Mapping):
        raise Incomplete(f"answered with {type(given).__name__}, not with one bool a question")
    for question in questions:
        if not isinstance(given.get(question), bool):
            raise Incomplete(f"gave no bool for {question!r}")
    extra = tuple(str(name) for name in given if name not in questions)
    return {question: given[question] for question in questions}, extra


def _kind(error: Exception) -> Failure:
    if isinstance(error, ConfigError):
        return "not-set-up"
    if isinstance(error, TimeoutError | Overdue):
        return "timeout"
    if isinstance(error, BreakerOpen):
        return "paused"
    return "incomplete" if isinstance(error, Incomplete) else "error"


async def _value(given: Awaitable[Any] | Any) -> Any:  # noqa: ANN401 - whatever a backend gives
    return await given if inspect.isawaitable(given) else given
