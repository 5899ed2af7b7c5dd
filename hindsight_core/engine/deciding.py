"""Asks the decision layer for a session: which banks a turn reads, which its writes go to."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from hindsight_core.budget import work
from hindsight_core.config.bank_entries import bank_entries
from hindsight_core.recall.keywords import has_substance
from hindsight_core.recall.outcomes import why_skipped

if TYPE_CHECKING:
    from datetime import datetime

    from hindsight_core.config.settings.bank import BankEntry
    from hindsight_core.decision.router import Router
    from hindsight_core.decision.routes import Decided
    from hindsight_core.engine.notices import Notices
    from hindsight_core.engine.spans import Spans
    from hindsight_core.providers.chain import ModelChain
    from hindsight_core.runtime import Runtime
    from hindsight_core.stages import Stages
    from hindsight_core.transcript.entry import Entry
    from hindsight_core.turns import Turn

# Share of recall.timeout_ms: whoever hangs here costs this part, and the search still runs.
SHARE = 0.5


class Deciding:
    """The decision layer of one session; nothing of it is imported while no gate is on.

    Args:
        runtime: The opened configuration.
        notices: Where trouble is told.
        spans: Where decisions are told.
    """

    def __init__(self, runtime: Runtime, *, notices: Notices, spans: Spans) -> None:
        self._runtime = runtime
        self._notices = notices
        self.spans = spans

    @property
    def entries(self) -> tuple[BankEntry, ...]:
        """The session's banks with their roles."""
        return bank_entries(self._runtime.settings, self._runtime.bank_id)

    @property
    def readable(self) -> tuple[str, ...]:
        """Banks that a turn may read, the project's first."""
        return tuple(entry.id for entry in self.entries if entry.readable)

    @property
    def _gates_reads(self) -> bool:
        settings = self._runtime.settings.decision
        return settings.inject_gate or settings.bank_gate

    @property
    def gates_writes(self) -> bool:
        """Whether anybody is asked before something is written."""
        return any(entry.writable and entry.writes == "decision" for entry in self.entries)

    async def read(self, turn: Turn, path: Sequence[Entry]) -> Turn:
        """The turn with the banks that it reads, or with the reason why it reads none.

        Args:
            turn: What is to be recalled for.
            path: The talk before it as the host gave it.
        """
        turn = replace(turn, banks=self.readable)
        settings = self._runtime.settings
        if not self._gates_reads or not has_substance(turn.prompt):
            return turn
        if why_skipped(settings, turn) is not None:
            return turn
        started = self.spans.now()
        seconds = settings.recall.timeout_ms / 1000 * SHARE
        try:
            async with asyncio.timeout(seconds):
                with work(session_id=turn.session_id, per_turn=True):
                    decided = await self._router.recall(turn.prompt, turn.entries, path=path)
        except TimeoutError:
            decided = self._late(f"no decision within {seconds:g} s")
        self._tell(decided, started=started, turn=turn.id)
        return replace(turn, banks=decided.banks, skip=decided.skip)

    async def write(self, said: Sequence[Entry], path: Sequence[Entry]) -> tuple[str, ...]:
        """Banks that a part of the session is written to.

        Args:
            said: The talk, sanitised.
            path: The same as the host gave it.
        """
        if not self.gates_writes:
            entries = self.entries
            return tuple(e.id for e in entries if e.writable and e.writes == "always")
        from hindsight_core.decision.state import last_user_message

        started = self.spans.now()
        decided = await self._router.retain(last_user_message(said), said, path=path)
        self._tell(decided, started=started)
        if not decided.banks:
            self.spans.skipped_write(decided, started=started)
            why = decided.reason if decided.fallback else f"decided by {decided.reason}"
            self._notices.info(
                "route", f"Part of this session is not kept: no bank for it ({why})."
            )
        return decided.banks

    def passed_over(self, chosen: Sequence[str]) -> tuple[str, ...]:
        """Banks whose cursor moves on although nothing is written to them.

        Those that could have been decided for, and the project's own: it stands for the session.
        """
        asked = (e.id for e in self.entries if e.writable and e.writes == "decision")
        every = dict.fromkeys((*asked, self._runtime.bank_id))
        return tuple(bank for bank in every if bank not in chosen)

    async def close(self) -> None:
        """Release what backends hold."""
        if "_router" in self.__dict__:
            await self._router.close()
        if "_models" in self.__dict__:
            await self._models.close()

    @cached_property
    def _router(self) -> Router:
        from hindsight_core.decision.ladder import Ladder
        from hindsight_core.decision.router import Router
        from hindsight_core.decision.tasks import OpenTasks

        runtime, settings = self._runtime, self._runtime.settings
        stages = self._stages
        services = replace(runtime.services, models=stages.models, stages=stages)
        ladder = Ladder(
            runtime.hooks,
            lambda name: runtime.hooks.create("decision_backends", name, settings, services),
            names=settings.decision.backends,
            timeout_s=settings.decision.timeout_ms / 1000,
            clock=runtime.clock,
        )
        timeout_s = settings.plugins.hook_timeout_ms / 1000
        return Router(
            settings.decision,
            lambda: self.entries,
            ladder=ladder,
            tasks=OpenTasks(runtime.hooks, runtime.bridge, timeout_s=timeout_s),
            prompts=runtime.prompts,
            clean=runtime.sanitiser.text,
            window=self._window,
            clock=runtime.clock,
        )

    @cached_property
    def _stages(self) -> Stages:
        """The chain of recall, or the one model that `decision.model` names."""
        if self._runtime.settings.decision.model is None:
            return self._runtime.stages
        from hindsight_core.stages import Stages

        return Stages(prompts=self._runtime.prompts, models=self._models)

    @cached_property
    def _models(self) -> ModelChain:
        wanted = {"recall": self._runtime.settings.decision.model, "recall_chain": ()}
        settings = self._runtime.settings
        models = settings.models.model_copy(update=wanted)
        return self._runtime.new_models(settings.model_copy(update={"models": models}))

    async def _window(self) -> int | None:
        if not self._stages.available("recall"):
            return None
        return await self._stages.models.context_window("recall")

    def _late(self, why: str) -> Decided:
        from hindsight_core.decision.fallback import fallback_banks
        from hindsight_core.decision.ladder import Attempt
        from hindsight_core.decision.routes import NO_BANKS, Decided

        decision = self._runtime.settings.decision
        readable = [entry for entry in self.entries if entry.readable]
        banks = self.readable
        if decision.bank_gate:
            banks = fallback_banks(decision, readable, writing=False)
        return Decided(
            "recall",
            banks,
            "backends-failed",
            skip=None if banks else NO_BANKS,
            fallback=True,
            failed=(Attempt("recall", "timeout", why),),
        )

    def _tell(self, decided: Decided, *, started: datetime, turn: str | None = None) -> None:
        self.spans.decision(decided, started=started, turn=turn)
        if not decided.fallback or decided.reason == "disabled":
            self._notices.over("decision", "The decision layer answers again.")
            return
        why = "; ".join(f"{failed.backend}: {failed.reason}" for failed in decided.failed)
        where = ", ".join(decided.banks) or "no bank (decision.fallback_banks names none)"
        self._notices.trouble(
            "decision", f"Nobody decided about memory ({why or decided.reason}); it uses {where}."
        )
