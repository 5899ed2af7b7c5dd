"""The decision layer: which banks a turn reads and writes (s1/S-DEC)."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hindsight_core.decision.cache import AnswerCache
from hindsight_core.decision.fallback import fallback_banks, why
from hindsight_core.decision.ladder import Answer, Ladder, NoAnswer
from hindsight_core.decision.questions import (
    INJECT,
    chosen,
    dropped,
    read_questions,
    write_questions,
)
from hindsight_core.decision.routes import NO_BANKS, NO_INJECT, Decided, Phase
from hindsight_core.decision.state import activity, context_characters
from hindsight_core.hookspecs import DecisionRequest
from hindsight_core.prompt_contexts_decision import TaskState

if TYPE_CHECKING:
    from hindsight_core.config.settings.bank import BankEntry
    from hindsight_core.config.settings.decision import Decision
    from hindsight_core.decision.tasks import OpenTasks
    from hindsight_core.prompts import Prompts
    from hindsight_core.services import Clock
    from hindsight_core.transcript.entry import Entry

logger = logging.getLogger("hindsight_core.decision")
Banks = Callable[[], Sequence["BankEntry"]]


class Router:
    """Asks, and falls back where nobody answers; it never raises into a turn (s1/S-DEC-9).

    Args:
        settings: The section `decision`.
        banks: The session's banks as they are now; asked again after each answer.
        ladder: Who answers.
        tasks: Reads the open tasks.
        prompts: Renders the questions.
        clean: Sanitises a text that comes from outside.
        window: Tokens that the decision model can read.
        clock: For the cache.
    """

    def __init__(
        self,
        settings: Decision,
        banks: Banks,
        *,
        ladder: Ladder,
        tasks: OpenTasks,
        prompts: Prompts,
        clean: Callable[[str], str],
        window: Callable[[], Awaitable[int | None]],
        clock: Clock,
    ) -> None:
        self._settings = settings
        self._banks = banks
        self._ladder = ladder
        self._tasks = tasks
        self._prompts = prompts
        self._clean = clean
        self._window = window
        self._cache: AnswerCache[Answer] = AnswerCache(clock, ttl_ms=settings.cache_ttl_ms)

    async def recall(
        self, message: str, said: Sequence[Entry], *, path: Sequence[Entry]
    ) -> Decided:
        """Whether this turn reads, and which banks (s1/S-DEC-4).

        Args:
            message: The user's words, sanitised.
            said: The talk before them, sanitised.
            path: The same as the host gave it, with its own records.
        """
        readable = [entry for entry in self._banks() if entry.readable]
        if not readable:
            return Decided("recall", (), "no-candidates", skip=NO_BANKS)
        banks = self._settings.bank_gate
        answer, decided = await self._answer(
            "recall",
            lambda: read_questions(self._prompts, readable, banks=banks),
            (message, said, path),
        )
        every = tuple(entry.id for entry in readable)
        if answer is None:
            # A model that is away is no reason to switch memory off: inject counts as yes.
            usable = [entry for entry in self._banks() if entry.readable]
            wanted = fallback_banks(self._settings, usable, writing=False) if banks else every
            return replace(decided, banks=wanted, skip=None if wanted else NO_BANKS)
        if not answer.answers[INJECT]:
            return replace(decided, skip=NO_INJECT)
        wanted = chosen(answer.answers, prefix="read:") if banks else every
        still = {entry.id for entry in self._banks() if entry.readable}
        kept = tuple(bank for bank in wanted if bank in still)
        gone = tuple(bank for bank in wanted if bank not in still)
        return replace(
            decided,
            banks=kept,
            skip=None if kept else NO_BANKS,
            dropped=(*decided.dropped, *gone),
        )

    async def retain(
        self, message: str, said: Sequence[Entry], *, path: Sequence[Entry]
    ) -> Decided:
        """Which banks a turn is written to: those that always are, and those decided for it.

        The former do not wait for the answer and do not depend on it (s1/S-DEC-5).
        """
        writable = [entry for entry in self._banks() if entry.writable]
        always = tuple(entry.id for entry in writable if entry.writes == "always")
        offered = [entry for entry in writable if entry.writes == "decision"]
        if not offered:
            return Decided("retain", always, "no-candidates")
        answer, decided = await self._answer(
            "retain", lambda: write_questions(self._prompts, offered), (message, said, path)
        )
        usable = [e for e in self._banks() if e.writable and e.writes == "decision"]
        if answer is None:
            wanted = fallback_banks(self._settings, usable, writing=True)
        else:
            wanted = chosen(answer.answers, prefix="write:")
        still = {entry.id for entry in usable}
        gone = tuple(bank for bank in wanted if bank not in still)
        kept = tuple(bank for bank in wanted if bank in still)
        return replace(decided, banks=(*always, *kept), dropped=(*decided.dropped, *gone))

    async def close(self) -> None:
        """Release what backends hold."""
        await self._ladder.close()

    async def _answer(
        self,
        phase: Phase,
        table: Callable[[], Mapping[str, str]],
        turn: tuple[str, Sequence[Entry], Sequence[Entry]],
    ) -> tuple[Answer | None, Decided]:
        if not self._settings.enabled:
            return None, Decided(phase, (), "disabled", fallback=True)
        try:
            asks = table()
            message = turn[0]
            known = self._cache.get(asks, message)
            answer = known or await self._ladder.ask(await self._request(asks, turn))
        except NoAnswer as error:
            return None, Decided(
                phase, (), why(error.attempts), fallback=True, failed=error.attempts
            )
        except Exception as error:
            logger.exception("the decision layer failed: %s", error)
            return None, Decided(phase, (), "backends-failed", fallback=True)
        if known is None:
            self._cache.put(asks, message, answer)
        return answer, Decided(
            phase,
            (),
            answer.backend,
            backend=answer.backend,
            attempt=answer.attempt,
            cached=known is not None,
            offered=tuple(asks),
            dropped=dropped(answer.extra, offered=asks),
            failed=answer.failed,
        )

    async def _request(
        self, asks: Mapping[str, str], turn: tuple[str, Sequence[Entry], Sequence[Entry]]
    ) -> DecisionRequest:
        message, said, path = turn
        limit = self._settings.max_context_chars
        if limit is None:
            limit = context_characters(await self._window())
        return DecisionRequest(
            questions=tuple(asks),
            last_user_message=message,
            task_state=await self._task_state(path),
            activity=activity(said, limit=limit) or None,
            asks=dict(asks),
        )

    async def _task_state(self, path: Sequence[Entry]) -> str | None:
        tasks = await self._tasks.read(path)
        if tasks is None:
            return None
        clean = tuple(text for task in tasks if (text := self._clean(task)))
        variables = TaskState(known=True, tasks=clean)
        return self._prompts.render("decision/tasks", variables).text.strip()
