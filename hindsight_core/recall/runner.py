"""The recall runner: plan, search in parallel, filter, judge, merge, place (pi/R)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

from hindsight_core.budget import work
from hindsight_core.errors import BankError, HindsightError
from hindsight_core.memory import Hit, Query, Scope
from hindsight_core.recall import outcomes
from hindsight_core.recall.block import recall_block
from hindsight_core.recall.floor import evident
from hindsight_core.recall.judge import unjudged
from hindsight_core.recall.merge import Merged, distinct, merge
from hindsight_core.recall.record import recall_fields
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


class RecallRunner:
    """Runs a turn's recall; it changes no state, so that a cancelled turn leaves no trace.

    Args:
        settings: Effective settings.
        hooks: Planner, judge and filters, built-in and others.
        banks: Open banks by id.
        stages: Gives the templates of the block.
        sanitiser: Cleans what a search gives.
        clock: Aware UTC now.
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
        log: ActivityLog | None = None,
    ) -> None:
        self._settings = settings
        self._hooks = hooks
        self._banks = banks
        self._stages = stages
        self._sanitiser = sanitiser
        self._clock = clock
        self._log = log

    async def run(self, turn: Turn) -> RecallOutcome:
        """Recall for a prompt, within ``recall.timeout_ms``; never raises but on cancel.

        Nothing is injected when it fails, and the reason says why (pi/R-02).
        """
        started = self._clock()
        seconds = self._settings.recall.timeout_ms / 1000
        deadline = asyncio.get_running_loop().time() + seconds
        try:
            async with asyncio.timeout_at(deadline):
                with work(session_id=turn.session_id, per_turn=True):
                    outcome = await self._recall(turn)
        except TimeoutError:
            outcome = RecallOutcome("failed", reason=f"no result within {seconds:g} s")
        except HindsightError as error:
            outcome = RecallOutcome("failed", reason=str(error))
        except Exception as error:
            logger.exception("recall failed")
            outcome = RecallOutcome("failed", reason=f"{type(error).__name__}: {error}")
        took = self._clock() - started
        await self._tell(turn, outcome, took_ms=round(took.total_seconds() * 1000), by=deadline)
        return outcome

    async def search(
        self, text: str, *, bank: str | None = None, limit: int = 10, scope: Scope | None = None
    ) -> list[Hit]:
        """The plain search of the tool and the command line; raises `BankError`."""
        return await search(
            self._banks,
            text,
            bank=bank,
            limit=limit,
            scope=scope,
            hooks=self._hooks,
            sanitiser=self._sanitiser,
            max_characters=self._settings.security.max_fact_characters,
        )

    async def _recall(self, turn: Turn) -> RecallOutcome:
        if (why := outcomes.why_skipped(self._settings, turn)) is not None:
            return RecallOutcome("skipped", reason=why)
        plan = await self._hooks.plan_recall(turn)
        if plan is None or not plan.queries:
            reason = plan.reason if plan else f"nothing plans recall.mode {self._mode!r}"
            return RecallOutcome("skipped", reason=reason or "there is nothing to search for")
        banks = self._chosen(turn)
        work = [self._search(turn, plan, query, bank) for query in plan.queries for bank in banks]
        searched = tuple(await asyncio.gather(*work))
        merged = merge(searched, shown=turn.shown, cap=outcomes.line_cap(self._settings, turn))
        outcome = outcomes.conclude(plan, searched, merged)
        return await self._place(turn, outcome, merged)

    async def _search(self, turn: Turn, plan: Plan, query: Query, bank: Bank) -> Searched:
        try:
            found = await bank.recall(query)
        except BankError as error:
            logger.info("bank %s failed: %s", bank.id, error)
            why = f"bank {bank.id}: {error}"
            return Searched(query=query, error=why, bank=bank.id, away=error.retryable)
        filtered = await self._hooks.filter_hits(turn, query, found)
        candidates = distinct(filtered)
        return Searched(
            query=query,
            found=len(found),
            candidates=candidates,
            verdict=await self._verdict(turn, plan, query, candidates),
            bank=bank.id,
        )

    async def _verdict(
        self, turn: Turn, plan: Plan, query: Query, candidates: tuple[Hit, ...]
    ) -> Verdict:
        if plan.judge and candidates:
            verdict = await self._hooks.judge_hits(turn, query, candidates)
            # A score of 0 keeps nothing, whoever gave it (protocol.md).
            return verdict or unjudged(candidates, failed=True)
        if plan.judge or outcomes.filter_is_off(self._settings, plan):
            return unjudged(candidates)
        return unjudged(evident(query, candidates))

    async def _place(self, turn: Turn, outcome: RecallOutcome, merged: Merged) -> RecallOutcome:
        if outcome.outcome == "failed":
            return outcome
        block = recall_block(
            self._stages.prompts,
            merged.hits,
            queries=outcomes.query_texts(outcome),
            found=outcome.found,
            reminder=await self._reminder(turn),
        )
        return outcomes.placed(outcome, block)

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

    @property
    def _mode(self) -> str:
        return self._settings.recall.mode
