"""The recall runner: plan, search in parallel, filter, judge, merge, place (pi/R)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from hindsight_core.budget import work
from hindsight_core.errors import BankError, HindsightError
from hindsight_core.memory import Hit, Query, Scope
from hindsight_core.recall import outcomes
from hindsight_core.recall.block import turn_block
from hindsight_core.recall.block_cache import BlockCache
from hindsight_core.recall.floor import evident
from hindsight_core.recall.judge import unjudged
from hindsight_core.recall.mental_models import Models, Shown, models_key
from hindsight_core.recall.merge import CANDIDATES, distinct, merge
from hindsight_core.recall.plain_query import PlainQuery
from hindsight_core.recall.quality import quality_pass
from hindsight_core.recall.record import recall_fields
from hindsight_core.recall.rounds import Looked, rounds
from hindsight_core.recall.scopes import NOTHING_MORE, BankScope, Wanted, kinds_of
from hindsight_core.recall.search import Cleans, search
from hindsight_core.turns import Plan, RecallOutcome, Searched, Turn, Verdict

if TYPE_CHECKING:
    from hindsight_core.banks.base import Bank
    from hindsight_core.config.settings import Settings
    from hindsight_core.plugins import Hooks
    from hindsight_core.services import Clock
    from hindsight_core.stages import Stages
    from hindsight_core.telemetry import ActivityLog

logger = logging.getLogger("hindsight_core.recall")
LAST_SHARE = 0.1
"""Share of `recall.timeout_ms` that is left when the last bank must have answered."""
_SEARCH_UNTIL: ContextVar[float | None] = ContextVar("search_until", default=None)
How = Callable[[Turn, float], Awaitable[RecallOutcome]]
"""Looks for a turn's facts, until a moment of the loop's clock; the runner places them."""


class RecallRunner:
    """Runs a turn's recall; it changes no state, so that a cancelled turn leaves no trace.

    Args:
        settings: Effective settings.
        hooks: Planner, judge and filters, built-in and others.
        banks: Open banks by id.
        stages: Gives the templates of the block.
        sanitiser: Cleans what a search gives.
        clock: Aware UTC now.
        scopes: How each bank is searched, by its id; a bank without one is searched whole.
        log: Takes one ``recall`` entry a turn (pi/R-22); None for no log.
    """

    def __init__(
        self,
        settings: Settings,
        hooks: Hooks,
        banks: Mapping[str, Bank],
        stages: Stages,
        sanitiser: Cleans,
        clock: Clock,
        *,
        scopes: Mapping[str, BankScope] | None = None,
        log: ActivityLog | None = None,
    ) -> None:
        self._settings = settings
        self._mode = settings.recall.mode
        self._hooks = hooks
        self._banks = banks
        self._stages = stages
        self._sanitiser = sanitiser
        self._clock = clock
        self._scopes = scopes or {}
        self._log = log
        self._cache = BlockCache(clock, ttl_ms=settings.recall.cache_ttl_ms)
        self._plain = PlainQuery(settings, stages.prompts, clock)
        self._models = Models(settings.mental_models, sanitiser, clock)

    async def run(self, turn: Turn, *, how: How | None = None) -> RecallOutcome:
        """Recall for a prompt, within ``recall.timeout_ms``; never raises but on cancel.

        Nothing is injected when it fails, and the reason says why (pi/R-02).

        ``how`` looks for the facts; None for `ordinary`.
        """
        started = self._clock()
        seconds = self._settings.recall.timeout_ms / 1000
        deadline = asyncio.get_running_loop().time() + seconds
        searching = _SEARCH_UNTIL.set(deadline - seconds * LAST_SHARE)
        try:
            async with asyncio.timeout_at(deadline):
                with work(session_id=turn.session_id, per_turn=True):
                    outcome = await self._recall(turn, how or self.ordinary, deadline)
        except TimeoutError:
            outcome = RecallOutcome("failed", reason=f"no result within {seconds:g} s")
        except HindsightError as error:
            outcome = RecallOutcome("failed", reason=str(error))
        except Exception as error:
            logger.exception("recall failed")
            outcome = RecallOutcome("failed", reason=f"{type(error).__name__}: {error}")
        finally:
            _SEARCH_UNTIL.reset(searching)
        took = self._clock() - started
        await self._tell(turn, outcome, took_ms=round(took.total_seconds() * 1000), by=deadline)
        return outcome

    async def search(
        self,
        text: str,
        *,
        bank: str | None = None,
        limit: int = 10,
        scope: Scope | None = None,
        wanted: Wanted | None = None,
        asked: Query | None = None,
    ) -> list[Hit]:
        """The plain search of the tool and the command line; raises `BankError`."""
        return await search(
            self._banks,
            text,
            bank=bank,
            limit=limit,
            scope=scope,
            asked=asked,
            narrow=partial(self._narrowed, wanted=wanted),
            hooks=self._hooks,
            sanitiser=self._sanitiser,
            max_characters=self._settings.security.max_fact_characters,
        )

    async def ordinary(self, turn: Turn, deadline: float) -> RecallOutcome:
        """One plan and its searches; raises `HindsightError`."""
        return self.conclude(turn, await self.look(turn, deadline=deadline))

    async def look(self, turn: Turn, *, deadline: float) -> Looked:
        """Plan, search and judge, without choosing among what was found yet."""
        plan = await self._hooks.plan_recall(turn)
        if plan is None:
            return Looked(Plan(reason=f"nothing plans recall.mode {self._mode!r}"))
        searched = await self.searched(turn, plan, plan.queries)
        if turn.occasion == "steer":
            return Looked(plan, searched)
        more = await rounds(self, self._settings, turn, Looked(plan, searched), by=deadline)
        return Looked(plan, (*searched, *more))

    async def searched(
        self, turn: Turn, plan: Plan, queries: Sequence[Query]
    ) -> tuple[Searched, ...]:
        """Each query asked of each bank and judged, in parallel; a bank that fails says so."""
        banks = self._chosen(turn) if queries else []
        work = [self._search(turn, plan, query, bank) for query in queries for bank in banks]
        return tuple(await asyncio.gather(*work))

    def conclude(self, turn: Turn, looked: Looked) -> RecallOutcome:
        """What is worth showing of all that was found, before its block is made."""
        if not looked.searched:
            reason = looked.plan.reason or "there is nothing to search for"
            return RecallOutcome("skipped", reason=reason)
        cap = outcomes.line_cap(self._settings, turn)
        merged = merge(looked.searched, shown=turn.shown, cap=cap)
        return replace(outcomes.conclude(looked.plan, looked.searched, merged), cap=cap)

    @property
    def stages(self) -> Stages:
        """Asks the model chain."""
        return self._stages

    @property
    def sanitiser(self) -> Cleans:
        """Cleans what a bank gives."""
        return self._sanitiser

    def bank(self, turn: Turn) -> Bank:
        """The first bank of a turn: the project's; raises `BankError`."""
        return self._chosen(turn)[0]

    async def _recall(self, turn: Turn, how: How, deadline: float) -> RecallOutcome:
        if turn.occasion == "steer":
            return await how(turn, deadline)
        if (why := outcomes.why_skipped(self._settings, turn)) is not None:
            return RecallOutcome("skipped", reason=why)
        if (known := self._cache.get(turn)) is not None:
            return known
        outcome = await self._place(turn, await how(turn, deadline))
        if self._mode == "plain":
            self._cache.put(turn, outcome)
        return outcome

    async def _search(self, turn: Turn, plan: Plan, query: Query, bank: Bank) -> Searched:
        asked = self._narrowed(bank.id, query)
        if self._mode == "plain" and turn.occasion == "prompt":
            asked = self._plain.worded(asked, turn, self._scopes.get(bank.id))
        started = self._clock()
        try:
            # One bank that hangs hides nothing of the others (s1/S-REC-4).
            async with asyncio.timeout_at(_SEARCH_UNTIL.get()):
                found = await bank.recall(asked)
        except TimeoutError:
            seconds = self._settings.recall.timeout_ms / 1000
            why = f"bank {bank.id}: no answer within {seconds:g} s (recall.timeout_ms)"
            return Searched(query=query, error=why, bank=bank.id, away=True, late=True)
        except BankError as error:
            logger.info("bank %s failed: %s", bank.id, error)
            why = f"bank {bank.id}: {error}"
            return Searched(query=query, error=why, bank=bank.id, away=error.retryable)
        took = self._clock() - started
        weighed = await self.weighed(turn, plan, query, bank=bank.id, found=found)
        return replace(weighed, took_ms=round(took.total_seconds() * 1000))

    async def weighed(
        self, turn: Turn, plan: Plan, query: Query, *, bank: str, found: Sequence[Hit]
    ) -> Searched:
        """What a bank gave for a query: cleaned, each once, judged."""
        passed = quality_pass(found, self._settings.recall.min_scores)
        filtered = await self._hooks.filter_hits(turn, query, passed.kept)
        scope = self._scopes.get(bank)
        most = max(CANDIDATES, self._settings.steer.top_k if turn.occasion == "steer" else 0)
        candidates = distinct(filtered, limit=(scope.top_k if scope else None) or most)
        return Searched(
            query=query,
            found=len(found),
            candidates=candidates,
            verdict=await self._verdict(turn, plan, query, candidates),
            bank=bank,
            dropped=passed.dropped,
            raw=tuple(found),
        )

    def _narrowed(self, bank: str, query: Query, *, wanted: Wanted | None = None) -> Query:
        makes = self._banks[bank].capabilities.observations
        kinds = kinds_of(query.scope.kinds, observations=makes)
        query = replace(query, scope=replace(query.scope, kinds=kinds))
        scope = self._scopes.get(bank) or BankScope(bank)
        return scope.narrow(query, wanted or NOTHING_MORE)

    async def _verdict(
        self, turn: Turn, plan: Plan, query: Query, candidates: tuple[Hit, ...]
    ) -> Verdict:
        if plan.judge and candidates:
            verdict = await self._hooks.judge_hits(turn, query, candidates)
            # A score of 0 keeps nothing, whoever gave it (protocol.md).
            return verdict or unjudged(candidates, failed=True)
        if plan.judge or not plan.floor or outcomes.filter_is_off(self._settings, plan, candidates):
            return unjudged(candidates)
        return unjudged(evident(query, candidates))

    async def _place(self, turn: Turn, outcome: RecallOutcome) -> RecallOutcome:
        if outcome.outcome == "failed" or outcome.block is not None:
            return outcome
        told = replace(turn, boundary=outcome.boundary, injects=bool(outcome.hits))
        models = await self._mental_models(turn)
        block = turn_block(
            self._stages.prompts, outcome, models=models, reminder=await self._reminder(told)
        )
        if block is not None:
            block = replace(block, position=self._settings.recall.injection_position)
        return outcomes.placed(outcome, block, models=models)

    async def _mental_models(self, turn: Turn) -> tuple[Shown, ...]:
        """Those to show; where blocks stay before the model, only once until they change."""
        if not self._settings.mental_models.inject or turn.is_child:
            return ()
        found = await self._models.of(self._chosen(turn), self._scopes)
        return () if models_key(found) in turn.shown else found

    async def _reminder(self, turn: Turn) -> str | None:
        if turn.is_child:
            return None
        try:
            return await self._hooks.remind(turn)
        except Exception:
            # The facts are there already; a reminder is not worth losing them.
            logger.exception("no reminder")
            return None

    def _chosen(self, turn: Turn) -> list[Bank]:
        wanted = turn.banks or tuple(self._banks)
        missing = [bank for bank in wanted if bank not in self._banks]
        if missing:
            raise BankError(f"bank {missing[0]!r} is not open here", retryable=False)
        return [self._banks[bank] for bank in dict.fromkeys(wanted)]

    async def _tell(self, turn: Turn, outcome: RecallOutcome, *, took_ms: int, by: float) -> None:
        try:
            if self._log is not None:
                fields = recall_fields(turn, outcome, settings=self._settings, took_ms=took_ms)
                self._log.write("recall", **fields)
            async with asyncio.timeout_at(by):
                await self._hooks.after_recall(turn, outcome)
        except Exception:
            # What was recalled is decided; who only watches cannot take it back.
            logger.exception("a recall could not be told")
