"""The composition root: builds each part that a command or a bridge needs, when it is used."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from hindsight_core.errors import MemoryOff
from hindsight_core.services import Clock, Services, utc_now

if TYPE_CHECKING:
    from hindsight_core.banks.base import Bank
    from hindsight_core.budget import Meter
    from hindsight_core.config.layers import Loaded
    from hindsight_core.config.settings import Settings
    from hindsight_core.embedding import GuardedEmbedder
    from hindsight_core.memorize.active import ActiveMemory
    from hindsight_core.memorize.lifecycle.sink import EventSink
    from hindsight_core.memorize.runner import Memorizer, MemorizeReport
    from hindsight_core.plugins import Hooks
    from hindsight_core.prompts import Prompts
    from hindsight_core.providers.chain import ModelChain
    from hindsight_core.recall.runner import RecallRunner
    from hindsight_core.recall.scopes import BankScope
    from hindsight_core.services import BridgeAccess
    from hindsight_core.stages import Stages
    from hindsight_core.state.journal import Journal
    from hindsight_core.state.outbox import Outbox
    from hindsight_core.state.queue import Queue
    from hindsight_core.state.sessions import SessionState
    from hindsight_core.state.usage import UsageStore
    from hindsight_core.telemetry import ActivityLog
    from hindsight_core.transcript.sanitise import Sanitiser
    from hindsight_core.worktree.tree import Tree


class Runtime:
    """One configuration, opened.

    Args:
        loaded: The effective configuration.
        clock: Aware UTC now.
        bridge: The host program, inside a bridge.
        read_only: Refuse every write (``recall`` needs none).
        env: The environment; the process's own when None.
        hooks: The plugins, when `configure` has loaded them already.

    Raises:
        ConfigError: When a part is asked for that the configuration names but nobody provides.
    """

    def __init__(
        self,
        loaded: Loaded,
        *,
        clock: Clock = utc_now,
        bridge: BridgeAccess | None = None,
        read_only: bool = False,
        env: Mapping[str, str] | None = None,
        hooks: Hooks | None = None,
    ) -> None:
        self.loaded = loaded
        self.settings: Settings = loaded.settings
        self.clock = clock
        self.bridge = bridge
        self.read_only = read_only or loaded.settings.bank.read_only
        self.env = os.environ if env is None else env
        self.logger = logging.getLogger("hindsight_core")
        self._bare = Services(clock=clock, logger=self.logger, bridge=bridge, env=self.env)
        self._given_hooks = hooks
        self._banks: dict[str, Bank] = {}
        self._memorizers: dict[str, Memorizer] = {}

    @cached_property
    def hooks(self) -> Hooks:
        """Plugins and the built-ins, which register the same way."""
        from hindsight_core.configure import plugins_of

        return self._given_hooks or plugins_of(self.loaded, env=self.env)

    @cached_property
    def services(self) -> Services:
        """What factories are given."""
        return replace(self._bare, embedder=self.embedder)

    @cached_property
    def embedder(self) -> GuardedEmbedder | None:
        """The configured embedder, or None."""
        from hindsight_core.embedding import created

        name = self.settings.embeddings.provider
        if name == "none":
            return None
        make = partial(self.hooks.create, "embedders", name, self.settings, self._bare)
        return created(make, name=name)

    @cached_property
    def models(self) -> ModelChain:
        """The model chain of both purposes."""
        return self.new_models(self.settings)

    def new_models(self, settings: Settings) -> ModelChain:
        """A model chain of other settings, owned by the caller; its calls are metered here."""
        from hindsight_core.providers.chain import ModelChain

        factories = {name: partial(self.hooks.create, "models", name) for name in self.hooks.models}
        return ModelChain(settings, self.services, factories, meter=self.meter)

    @cached_property
    def meter(self) -> Meter:
        """Counts every model call."""
        from hindsight_core.budget import Meter

        return Meter(sink=self.usage, clock=self.clock)

    @cached_property
    def prompts(self) -> Prompts:
        """The template search path."""
        from hindsight_core.prompts import Prompts

        return Prompts.from_loaded(self.loaded, plugin_dirs=self.hooks.template_dirs(self.settings))

    @cached_property
    def stages(self) -> Stages:
        """Templates asked of the model chain."""
        from hindsight_core.stages import Stages

        return Stages(prompts=self.prompts, models=self.models)

    @cached_property
    def sanitiser(self) -> Sanitiser:
        """The one boundary that every text crosses."""
        from hindsight_core.redact import Redactor
        from hindsight_core.transcript.sanitise import Sanitiser

        extra = [rule for item in self.hooks.redactors.values() for rule in item.create()]
        return Sanitiser(Redactor(extra=extra) if self.settings.security.redact_secrets else None)

    @cached_property
    def worktree(self) -> Tree | None:
        """The checkout's files; None where there is no project."""
        from hindsight_core.worktree.tree import Tree

        return Tree.of(self.loaded.project.checkout)

    @cached_property
    def queue(self) -> Queue:
        """The durable write queue."""
        from hindsight_core.state.queue import Queue

        return Queue(self.loaded.paths.queue, clock=self.clock, settings=self.settings)

    @cached_property
    def outbox(self) -> Outbox:
        """Durable first, then the bank."""
        from hindsight_core.memorize.gate import gating
        from hindsight_core.state.outbox import Outbox

        gates = gating(self.settings, self.env)
        return Outbox(self.queue, clock=self.clock, redact=self.sanitiser.redact, **gates)

    @cached_property
    def journal(self) -> Journal:
        """Turns that are not memorized yet, and which sessions live."""
        from hindsight_core.state.journal import Journal

        return Journal(self.queue, clock=self.clock)

    @cached_property
    def sessions(self) -> SessionState:
        """Cursors, summaries and shown facts."""
        from hindsight_core.state.sessions import SessionState

        return SessionState(self.loaded.paths.state, clock=self.clock, queue=self.queue)

    @cached_property
    def usage(self) -> UsageStore:
        """Calls and tokens by stage and day."""
        from hindsight_core.state.usage import UsageStore

        return UsageStore(self.loaded.paths.state, clock=self.clock)

    @cached_property
    def log(self) -> ActivityLog:
        """The activity log."""
        from hindsight_core.telemetry import ActivityLog

        log, redact = self.settings.log, self.sanitiser.redact
        kept = {"include_text": log.include_text, "enabled": log.activity}
        return ActivityLog(self.loaded.paths.logs, **kept, clock=self.clock, redact=redact)

    @property
    def bank_id(self) -> str:
        """The project's bank, or the one asked for.

        Raises:
            MemoryOff: No bank: this folder is no project, with the reason.
        """
        choice = self.loaded.bank
        if choice.id is None:
            raise MemoryOff(
                f"{choice.reason}. Name a bank with --bank NAME, or run inside a project."
            )
        return choice.id

    @cached_property
    def bank(self) -> Bank:
        """The bank of `bank_id`, opened."""
        return self.open_bank(self.bank_id)

    def open_bank(self, bank_id: str) -> Bank:
        """A bank of the configured backend; the same object for the same id."""
        if bank_id not in self._banks:
            chosen = self.settings.bank.model_copy(update={"id": bank_id})
            settings = self.settings.model_copy(update={"bank": chosen})
            self._banks[bank_id] = self.new_bank(self.loaded.bank.backend, settings)
        return self._banks[bank_id]

    def new_bank(self, backend: str, settings: Settings) -> Bank:
        """A bank of any backend, owned by the caller; a vector store gets our adapter."""
        from hindsight_core.banks.vector import as_bank

        found = self.hooks.create("banks", backend, settings, self.services)
        return as_bank(found, self.services, backend=backend, banks_dir=self.loaded.paths.banks)

    @cached_property
    def recall(self) -> RecallRunner:
        """The recall pipeline over the banks that may be read."""
        from hindsight_core.assembly import recall_runner

        return recall_runner(self)

    @cached_property
    def recall_scopes(self) -> Mapping[str, BankScope]:
        """How each bank that may be read is searched, the project's first."""
        from hindsight_core.assembly import recall_scopes

        return recall_scopes(self)

    @property
    def memorizer(self) -> Memorizer:
        """The memorize pipeline into the project's bank."""
        return self.memorizer_of(self.bank_id)

    def memorizer_of(self, bank_id: str) -> Memorizer:
        """The memorize pipeline into a bank; raises `MemoryOff` where nothing may be written."""
        from hindsight_core.assembly import memorizer

        if self.read_only:
            raise MemoryOff("bank.read_only is set: nothing is written")
        if bank_id not in self._memorizers:
            self._memorizers[bank_id] = memorizer(self, bank_id, first=not self._memorizers)
        return self._memorizers[bank_id]

    @cached_property
    def active(self) -> ActiveMemory:
        """Active memory of the project's bank: capture, lifecycle, feedback, consolidation."""
        from hindsight_core.assembly import active_memory

        return active_memory(self)

    @cached_property
    def active_sink(self) -> EventSink:
        """What happens to memories; the activity log, until somebody else listens."""
        from hindsight_core.assembly import event_sink

        return event_sink(self)

    @property
    def problems(self) -> list[str]:
        """What is wrong with plugins and templates, for the user."""
        from hindsight_core.configure import problems

        return problems(self.loaded, self.__dict__)

    def record(
        self, report: MemorizeReport, *, session: str | None, bank: str | None = None
    ) -> None:
        """One ``retain`` (or ``error``) entry in the activity log; what was retired in another."""
        for kind, fields in report.logged:
            self.log.write(kind, session=session, bank=bank or self.bank_id, **fields)

    async def close(self) -> None:
        """Release everything that was opened."""
        for bank in self._banks.values():
            await bank.close()
        built = self.__dict__
        if "models" in built:
            await self.models.close()
        if (close := getattr(built.get("embedder"), "close", None)) is not None:
            await close()
        for name in ("journal", "sessions", "usage", "queue"):
            if name in built:
                built[name].close()
