"""Loads plugins: one that cannot be loaded is set aside and reported, the others work."""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hindsight_core.errors import PluginError
from hindsight_core.plugins.discovery import CHOICE, choose, find_plugins, in_order
from hindsight_core.plugins.facade import Hooks
from hindsight_core.plugins.trace import Trace, wanted

if TYPE_CHECKING:
    from hindsight_core.plugins.plugin import Plugin


def load_hooks(
    *,
    env: Mapping[str, str] | None = None,
    builtins: Iterable[object] = (),
    load: Sequence[str] = (),
    block: Sequence[str] = (),
    hook_timeout_ms: int = 2000,
    monotonic: Callable[[], float] = time.monotonic,
) -> Hooks:
    """Find, choose and register plugins.

    Built-ins come first, so that their names are theirs; at run time third parties are asked
    before them. Nothing here raises for what a third party did wrong: `Hooks.problems` has it.

    Args:
        env: ``HINDSIGHT_MEM_PLUGINS`` (which to load), ``HINDSIGHT_MEM_TRACE``; default the
            process's.
        builtins: Objects of this package with hook implementations.
        load: ``plugins.load``: the order in which they are asked; others come after.
        block: ``plugins.block``.
        hook_timeout_ms: ``plugins.hook_timeout_ms``.
        monotonic: Seconds that only grow; a fake one in tests.

    Raises:
        PluginError: A built-in is wrong.
    """
    env = os.environ if env is None else env
    trace = Trace() if wanted(env) else None
    hooks = Hooks(timeout_ms=hook_timeout_ms, trace=trace, monotonic=monotonic)
    for builtin in builtins:
        hooks.register_builtin(builtin)
    if CHOICE in env and not env[CHOICE].strip():
        return hooks
    found = find_plugins()
    hooks.problems += choose(found, env=env, load=load, block=block)
    # pluggy asks the last one registered first
    for plugin in reversed(in_order(found, load=load)):
        if plugin.status == "loaded":
            _register(hooks, plugin)
        else:
            hooks.plugins.append(plugin)
    return hooks


def _register(hooks: Hooks, plugin: Plugin) -> None:
    try:
        plugin.object = _object(plugin)
        hooks.add(plugin)
    except PluginError as error:
        _broken(hooks, plugin, str(error))
    except (Exception, SystemExit) as error:
        told = " ".join(str(error).split())[:300]
        _broken(
            hooks,
            plugin,
            f"plugin {plugin.label} cannot be loaded: {type(error).__name__}: {told}. "
            f"Update or uninstall it, or name it in plugins.block",
        )


def _object(plugin: Plugin) -> Any:  # noqa: ANN401 - a module, or any object with hooks
    loaded = plugin.load() if plugin.load is not None else None
    return loaded() if inspect.isclass(loaded) else loaded


def _broken(hooks: Hooks, plugin: Plugin, reason: str) -> None:
    plugin.status, plugin.reason = "broken", reason
    hooks.problems.append(reason)
    hooks.plugins.append(plugin)
