"""`Hooks`: every hook as a typed method, so that no caller touches pluggy."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hindsight_core.errors import PluginError
from hindsight_core.hookspecs import DecisionRequest, Event, Resolution
from hindsight_core.plugins.calls import Caller
from hindsight_core.plugins.manager import Manager
from hindsight_core.plugins.plugin import Plugin
from hindsight_core.plugins.registries import CORE, KINDS, Registered, Registry
from hindsight_core.plugins.results import answers, folders, many, one

if TYPE_CHECKING:
    from hindsight_core.config.settings import Settings
    from hindsight_core.memory import Document, Fact, Hit, Query, Receipt
    from hindsight_core.plugins.trace import Trace
    from hindsight_core.services import Services
    from hindsight_core.transcript.entry import Window
    from hindsight_core.turns import Plan, RecallOutcome, Turn, Verdict


class Hooks:
    """Plugins and built-ins behind typed methods.

    Args:
        timeout_ms: Deadline of one call of a third party (``plugins.hook_timeout_ms``).
        trace: Writes every call, when wanted.
        monotonic: Seconds that only grow; a fake one in tests.

    Attributes:
        problems: What is wrong, each naming its distribution; grows while plugins fail.
        on_notice: Told every problem that comes up while running, once a plugin.
        plugins: All that are installed, in every status.
    """

    def __init__(
        self,
        *,
        timeout_ms: int = 2000,
        trace: Trace | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.problems: list[str] = []
        self.on_notice: Callable[[str], None] | None = None
        self.plugins: list[Plugin] = []
        self._manager = Manager()
        self._caller = Caller(
            self._manager,
            timeout_ms=timeout_ms,
            notice=self._noticed,
            trace=trace,
            monotonic=monotonic,
        )
        self.banks = Registry("banks")
        self.embedders = Registry("embedders")
        self.models = Registry("models")
        self.decision_backends = Registry("decision_backends")
        self.tools = Registry("tools")
        self.commands = Registry("commands")
        self.cli = Registry("cli")
        self.importers = Registry("importers")
        self.task_readers = Registry("task_readers")
        self.redactors = Registry("redactors")
        self.checks = Registry("checks")
        self.profiles = Registry("profiles")
        self.sections = Registry("sections")

    # -- registration -----------------------------------------------------------------------

    def register_builtin(self, plugin: object, *, name: str | None = None) -> None:
        """Register a part of this package; third parties are asked before it, whenever it comes.

        Raises:
            PluginError: Its hooks are wrong, which is a mistake of ours.
        """
        from hindsight_core import __version__

        wanted = name or type(plugin).__name__
        taken = sum(p.builtin and p.name.split("#")[0] == wanted for p in self.plugins)
        label = f"{wanted}#{taken + 1}" if taken else wanted
        self.add(Plugin(label, CORE, __version__, object=plugin))

    def add(self, plugin: Plugin) -> None:
        """Register a plugin and call its registration hooks.

        Raises:
            PluginError: It is refused as a whole; a duplicate registered name is only a problem.
        """
        self._manager.add(plugin)
        for kind in KINDS:
            self._registrations(kind, plugin)
        if not plugin.builtin and plugin.noticed:
            self._refuse(plugin)
        self.plugins.append(plugin)

    def _registrations(self, kind: str, plugin: Plugin) -> None:
        registry: Registry = getattr(self, kind)

        def register(name: str, factory: Callable[..., Any]) -> None:
            if not isinstance(name, str) or not name.strip() or not callable(factory):
                raise TypeError(f"register({name!r}, ...) needs a name and a callable")
            item = Registered(name, factory, plugin.distribution, plugin.name)
            error = registry.add(item)
            plugin.provides = (*plugin.provides, f"{kind}: {name}")
            if error is not None:
                self._problem(str(error))

        for impl in self._manager.implementations(f"hindsight_register_{kind}"):
            if impl.plugin is plugin:
                self._caller.call_now(impl, lambda value: None, {"register": register})

    def _refuse(self, plugin: Plugin) -> None:
        """A plugin whose registration failed half-way is not used at all."""
        for kind in KINDS:
            getattr(self, kind).remove(plugin.distribution, plugin.name)
        self._manager.remove(plugin)
        plugin.provides = ()
        why = self.problems.pop() if self.problems else f"{plugin.label} cannot be registered"
        raise PluginError(why, distribution=plugin.distribution)

    def create(self, kind: str, name: str, settings: Settings, services: Services) -> Any:  # noqa: ANN401
        """Make a registered object by the name that a user wrote.

        Args:
            kind: Name of the registry, such as ``banks``.
            name: What is registered there.
            settings: Effective settings.
            services: What its plugin may use; ``section`` is filled in here.

        Raises:
            ConfigError: Nobody provides it.
            PluginError: Two distributions claim it, or its factory failed.
        """
        registry: Registry = getattr(self, kind)
        item = registry.require(name)
        own = self.section_of(item)
        section = settings.plugins.sections.get(own) if own is not None else None
        return item.create(settings, replace(services, section=section))

    def section_of(self, item: Registered) -> str | None:
        """Name of the settings section that the same plugin registered, if any."""
        owner = (item.distribution, item.plugin)
        found = (s.name for s in self.sections.values() if (s.distribution, s.plugin) == owner)
        return next(found, None)

    def _problem(self, text: str) -> None:
        if text not in self.problems:
            self.problems.append(text)

    def _noticed(self, text: str) -> None:
        self._problem(text)
        if self.on_notice is not None:
            self.on_notice(text)

    def template_dirs(self, settings: Settings) -> tuple[Path, ...]:
        """Template packs, in the order of ``plugins.load``."""
        found = self._caller.collect("hindsight_template_dirs", folders, {"settings": settings})
        return tuple(path for group in found for path in group)

    # -- recall -----------------------------------------------------------------------------

    async def plan_recall(self, turn: Turn) -> Plan | None:
        """First: what to search for."""
        from hindsight_core.turns import Plan

        return await self._caller.first("hindsight_plan_recall", one(Plan), {"turn": turn})

    async def judge_hits(self, turn: Turn, query: Query, hits: Sequence[Hit]) -> Verdict | None:
        """First: score and keep; None when nobody judges."""
        from hindsight_core.turns import Verdict

        arguments = {"turn": turn, "query": query, "hits": tuple(hits)}
        return await self._caller.first("hindsight_judge_hits", one(Verdict), arguments)

    async def filter_hits(self, turn: Turn, query: Query, hits: Sequence[Hit]) -> tuple[Hit, ...]:
        """Fold: drop, reorder or mask hits."""
        from hindsight_core.memory import Hit

        arguments = {"turn": turn, "query": query, "hits": tuple(hits)}
        return await self._caller.fold("hindsight_filter_hits", many(Hit), arguments, over="hits")

    async def after_recall(self, turn: Turn, outcome: RecallOutcome) -> None:
        """Notify: what recall came to."""
        await self._caller.notify("hindsight_after_recall", {"turn": turn, "outcome": outcome})

    async def remind(self, turn: Turn) -> str | None:
        """First: a reminder for this turn."""
        return await self._caller.first("hindsight_remind", one(str), {"turn": turn})

    # -- memorize ---------------------------------------------------------------------------

    async def filter_window(self, window: Window) -> Window:
        """Fold: change a window before anything looks at it."""
        from hindsight_core.transcript.entry import Window

        return await self._caller.fold(
            "hindsight_filter_window", one(Window), {"window": window}, over="window"
        )

    async def extract_facts(self, window: Window) -> tuple[Fact, ...] | None:
        """First: facts worth keeping; None when nobody extracts, () when there are none."""
        from hindsight_core.memory import Fact

        return await self._caller.first("hindsight_extract_facts", many(Fact), {"window": window})

    async def filter_facts(self, window: Window, facts: Sequence[Fact]) -> tuple[Fact, ...]:
        """Fold: drop or change facts."""
        from hindsight_core.memory import Fact

        arguments = {"window": window, "facts": tuple(facts)}
        return await self._caller.fold(
            "hindsight_filter_facts", many(Fact), arguments, over="facts"
        )

    async def resolve_facts(
        self, candidates: Sequence[Fact], neighbours: Mapping[str, Sequence[Hit]]
    ) -> tuple[Resolution, ...] | None:
        """First: add, replace or skip; None when nobody resolves."""
        arguments = {"candidates": tuple(candidates), "neighbours": neighbours}
        return await self._caller.first("hindsight_resolve_facts", many(Resolution), arguments)

    async def before_store(self, document: Document) -> Document:
        """Fold: the last change to a document."""
        from hindsight_core.memory import Document

        return await self._caller.fold(
            "hindsight_before_store", one(Document), {"document": document}, over="document"
        )

    async def after_store(self, receipt: Receipt) -> None:
        """Notify: what became of a write."""
        await self._caller.notify("hindsight_after_store", {"receipt": receipt})

    # -- decisions and events ---------------------------------------------------------------

    async def decide(self, request: DecisionRequest) -> Mapping[str, bool] | None:
        """First complete answer: one bool for each question; None when nobody decides."""
        return await self._caller.first(
            "hindsight_decide", answers(request.questions), {"request": request}
        )

    async def event(self, name: str, **fields: object) -> None:
        """Notify: something happened (README, Events)."""
        await self._caller.notify("hindsight_event", {"event": Event(name, fields)})
