"""Registers plugins with pluggy, and refuses those whose hooks cannot be right."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pluggy

from hindsight_core.errors import PluginError
from hindsight_core.hookspecs import PROJECT, HookSpecs

if TYPE_CHECKING:
    from hindsight_core.plugins.plugin import Plugin


class Implementation:
    """One plugin's function for one hook.

    Attributes:
        plugin: Whose it is.
        hook: Name of the hook.
        function: The function itself, bound to its plugin.
        arguments: The subset of the hook's arguments that it asks for.
    """

    __slots__ = ("arguments", "function", "hook", "plugin", "rank")

    def __init__(self, plugin: Plugin, impl: pluggy.HookImpl, hook: str) -> None:
        self.plugin = plugin
        self.hook = hook
        self.function: Callable[..., Any] = impl.function
        self.arguments: tuple[str, ...] = impl.argnames
        #: tryfirst, normal, trylast; within each third parties before built-ins.
        place = 0 if impl.tryfirst else 2 if impl.trylast else 1
        self.rank = (place, plugin.builtin)


class Manager:
    """pluggy's manager with checks whose messages name the distribution."""

    def __init__(self) -> None:
        self._pm = pluggy.PluginManager(PROJECT)
        self._pm.add_hookspecs(HookSpecs)
        self._plugins: dict[str, Plugin] = {}
        self._order: dict[str, list[Implementation]] = {}
        self.hooks = tuple(name for name in vars(HookSpecs) if name.startswith(f"{PROJECT}_"))

    def add(self, plugin: Plugin) -> None:
        """Register a plugin's object.

        Raises:
            PluginError: An unknown hook, an unknown argument, a wrapper; nothing stays registered.
        """
        key = f"{plugin.distribution}:{plugin.name}"
        if key in self._plugins:
            raise PluginError(
                f"{plugin.label} is registered already", distribution=plugin.distribution
            )
        self._plugins[key] = plugin
        try:
            self._pm.register(plugin.object, name=key)
            self._check(key, plugin)
        except (pluggy.PluginValidationError, ValueError, TypeError) as error:
            self.remove(plugin)
            raise self._invalid(plugin, error) from error
        except PluginError:
            self.remove(plugin)
            raise
        plugin.hooks = self._implemented(key)
        self._order.clear()

    def remove(self, plugin: Plugin) -> None:
        """Forget a plugin and everything that it implements."""
        key = f"{plugin.distribution}:{plugin.name}"
        self._plugins.pop(key, None)
        if self._pm.has_plugin(key):
            self._pm.unregister(name=key)
        self._order.clear()

    def implementations(self, hook: str) -> list[Implementation]:
        """In the order in which they are called: later registered first, as pluggy does."""
        if hook not in self._order:
            caller: pluggy.HookCaller = getattr(self._pm.hook, hook)
            found = [
                Implementation(self._plugins[impl.plugin_name], impl, hook)
                for impl in reversed(caller.get_hookimpls())
            ]
            self._order[hook] = sorted(found, key=lambda item: item.rank)
        return self._order[hook]

    def _callers(self) -> list[pluggy.HookCaller]:
        return [c for c in vars(self._pm.hook).values() if isinstance(c, pluggy.HookCaller)]

    def _implemented(self, key: str) -> tuple[str, ...]:
        return tuple(
            caller.name
            for caller in self._callers()
            if caller.has_spec() and any(i.plugin_name == key for i in caller.get_hookimpls())
        )

    def _check(self, key: str, plugin: Plugin) -> None:
        for caller in self._callers():
            for impl in caller.get_hookimpls():
                if impl.plugin_name != key:
                    continue
                if impl.wrapper or impl.hookwrapper:
                    raise PluginError(
                        f"{plugin.label}: {caller.name} is a wrapper, and hooks of this project "
                        f"cannot be wrapped; return a value from a plain implementation instead",
                        distribution=plugin.distribution,
                    )
                if not caller.has_spec() and not impl.optionalhook:
                    raise self._misspelt(caller.name, plugin)

    def _misspelt(self, hook: str, plugin: Plugin) -> PluginError:
        near = difflib.get_close_matches(hook, self.hooks, n=1, cutoff=0.5)
        meant = f"did you mean {near[0]}?" if near else f"hooks: {', '.join(self.hooks)}."
        return PluginError(
            f"{plugin.label} implements {hook}, which is no hook; {meant} A hook of a newer "
            f"version is marked with hookimpl(optionalhook=True).",
            distribution=plugin.distribution,
        )

    def _invalid(self, plugin: Plugin, error: Exception) -> PluginError:
        told = " ".join(str(error).split())
        return PluginError(
            f"{plugin.label} cannot be registered: {told}", distribution=plugin.distribution
        )
