"""The three ways to run a hook: first, fold and notify.

pluggy's own caller cannot fold, and with ``firstresult`` it takes an awaitable that turns out
None for an answer. Built-ins are called directly and their errors propagate; third parties have a
deadline, and what goes wrong there costs their part of this one call.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from hindsight_core.errors import PluginError
from hindsight_core.isolation import Overdue, call_async, call_blocking
from hindsight_core.plugins.breaker import FAILURES, PluginBreaker

if TYPE_CHECKING:
    from hindsight_core.plugins.manager import Implementation, Manager
    from hindsight_core.plugins.plugin import Plugin
    from hindsight_core.plugins.trace import Trace

T = TypeVar("T")
Accept = Callable[[Any], T | None]
_counting = threading.Lock()


class Caller:
    """Runs implementations.

    Args:
        manager: Knows them and their order.
        timeout_ms: Deadline of one call of a third party.
        notice: Told once about a plugin that fails, and once when it works again.
        trace: Writes every call, when wanted.
        monotonic: Seconds that only grow.
    """

    def __init__(
        self,
        manager: Manager,
        *,
        timeout_ms: int,
        notice: Callable[[str], None],
        trace: Trace | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._manager = manager
        self.timeout_ms = timeout_ms
        self._notice = notice
        self._trace = trace
        self._monotonic = monotonic

    async def first(self, hook: str, accept: Accept[T], arguments: Mapping[str, Any]) -> T | None:
        """The first result that is not None."""
        for impl in self._manager.implementations(hook):
            value = await self._call(impl, accept, arguments)
            if value is not None:
                return value
        return None

    async def fold(
        self, hook: str, accept: Accept[T], arguments: Mapping[str, Any], *, over: str
    ) -> T:
        """Pass the argument ``over`` through every implementation; None leaves it as it is."""
        current: T = arguments[over]
        for impl in self._manager.implementations(hook):
            value = await self._call(impl, accept, {**arguments, over: current})
            if value is not None:
                current = value
        return current

    async def notify(self, hook: str, arguments: Mapping[str, Any]) -> None:
        """Call all and ignore results; third parties side by side: none delays another."""
        found = self._manager.implementations(hook)
        others = [impl for impl in found if not impl.plugin.builtin]
        if others:
            await asyncio.gather(*(self._call(impl, _ignore, arguments) for impl in others))
        for impl in found:
            if impl.plugin.builtin:
                await self._call(impl, _ignore, arguments)

    def collect(self, hook: str, accept: Accept[T], arguments: Mapping[str, Any]) -> list[T]:
        """Results of plain implementations, from outside of an event loop too."""
        results = []
        for impl in self._manager.implementations(hook):
            value = self.call_now(impl, accept, arguments)
            if value is not None:
                results.append(value)
        return results

    def call_now(
        self, impl: Implementation, accept: Accept[T], arguments: Mapping[str, Any]
    ) -> T | None:
        """Call a plain implementation; failures of third parties are told and give None."""
        given = _asked(impl, arguments)
        started = self._monotonic()
        if impl.plugin.builtin:
            value = accept(impl.function(**given))
            self._traced(impl, given, started, result=value)
            return value
        try:
            raw = call_blocking(impl.function, given, seconds=self.timeout_ms / 1000)
            value = accept(raw)
        except Exception as error:
            self._failed(impl, error, given, started)
            return None
        self._traced(impl, given, started, result=value)
        return value

    async def _call(
        self, impl: Implementation, accept: Accept[T], arguments: Mapping[str, Any]
    ) -> T | None:
        given = _asked(impl, arguments)
        started = self._monotonic()
        if impl.plugin.builtin:
            return await self._builtin(impl, accept, given, started)
        breaker = self._breaker(impl.plugin)
        if impl.plugin.stuck >= FAILURES or not breaker.allows():
            return None
        try:
            raw = await call_async(
                impl.function,
                given,
                seconds=self.timeout_ms / 1000,
                stuck=lambda change: _count(impl.plugin, change),
            )
            value = accept(raw)
        except Exception as error:
            breaker.failed(impl.hook)
            self._failed(impl, error, given, started)
            return None
        if breaker.succeeded(impl.hook):
            self._notice(f"plugin {impl.plugin.label} works again")
        self._traced(impl, given, started, result=value)
        return value

    async def _builtin(
        self, impl: Implementation, accept: Accept[T], given: Mapping[str, Any], started: float
    ) -> T | None:
        raw = impl.function(**given)
        if inspect.isawaitable(raw):
            raw = await raw
        try:
            value = accept(raw)
        except WrongResult as error:
            raise PluginError(
                f"{impl.plugin.label}: {impl.hook} {error}", distribution=impl.plugin.distribution
            ) from error
        self._traced(impl, given, started, result=value)
        return value

    def _breaker(self, plugin: Plugin) -> PluginBreaker:
        if plugin.breaker is None:
            plugin.breaker = PluginBreaker(self._monotonic)
        return plugin.breaker

    def _failed(
        self, impl: Implementation, error: Exception, given: Mapping[str, Any], started: float
    ) -> None:
        why = self._reason(error)
        if self._trace is not None:
            took = self._monotonic() - started
            who = f"{impl.plugin.distribution}:{impl.plugin.name}"
            self._trace.call(impl.hook, who, given, f"FAILED, {why}", seconds=took)
        if not impl.plugin.noticed:
            impl.plugin.noticed = True
            self._notice(
                f"plugin {impl.plugin.label} failed in {impl.hook}: {why}. It is skipped where it "
                f"fails; update it, or name it in plugins.block"
            )

    def _reason(self, error: Exception) -> str:
        if isinstance(error, Overdue):
            return f"no answer within {self.timeout_ms} ms (plugins.hook_timeout_ms)"
        if isinstance(error, WrongResult):
            return str(error)
        text = " ".join(str(error).split())[:300]
        return f"{type(error).__name__}: {text}" if text else type(error).__name__

    def _traced(
        self, impl: Implementation, given: Mapping[str, Any], started: float, *, result: object
    ) -> None:
        if self._trace is not None:
            took = self._monotonic() - started
            who = f"{impl.plugin.distribution}:{impl.plugin.name}"
            self._trace.call(impl.hook, who, given, self._trace.show(result), seconds=took)


class WrongResult(Exception):
    """An implementation returned something that its hook does not take."""


def _asked(impl: Implementation, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: arguments[name] for name in impl.arguments if name in arguments}


def _count(plugin: Plugin, change: int) -> None:
    with _counting:
        plugin.stuck += change


def _ignore(value: object) -> None:
    return None
