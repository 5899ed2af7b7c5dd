"""Finds installed plugins by their entry points, and chooses among them.

Entry points are looked up anew in every process: it costs a few milliseconds, and a cache would
have to notice every way in which a package can be installed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from hindsight_core.plugins.plugin import Plugin

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "hindsight"
CHOICE = "HINDSIGHT_MEM_PLUGINS"


def find_plugins() -> list[Plugin]:
    """Every installed plugin, ordered by distribution and name; nothing is imported yet."""
    from importlib.metadata import entry_points

    found = [_plugin(point) for point in entry_points(group=GROUP)]
    return sorted(found, key=lambda plugin: (normal(plugin.distribution), plugin.name))


def choose(
    plugins: Sequence[Plugin],
    *,
    env: Mapping[str, str],
    load: Sequence[str] = (),
    block: Sequence[str] = (),
) -> list[str]:
    """Set the status of each plugin that shall not load; problems found on the way.

    Args:
        plugins: All that are installed.
        env: ``HINDSIGHT_MEM_PLUGINS`` names what to load; empty loads none.
        load: ``plugins.load``: an order; what it does not name loads after those.
        block: ``plugins.block``; wins over the others.
    """
    chosen = names(env[CHOICE]) if CHOICE in env else None
    for plugin in plugins:
        if _matches(plugin, block):
            plugin.status, plugin.reason = "blocked", "named in plugins.block"
        elif chosen is not None and not _matches(plugin, chosen):
            plugin.status, plugin.reason = "not chosen", f"not named in {CHOICE}"
    problems = _unknown(plugins, chosen or (), CHOICE)
    problems += _unknown(plugins, load, "plugins.load")
    problems += _unknown(plugins, block, "plugins.block")
    return problems + _duplicates(plugins)


def in_order(plugins: Iterable[Plugin], *, load: Sequence[str] = ()) -> list[Plugin]:
    """In the order of ``plugins.load``, the others after those."""

    def place(plugin: Plugin) -> int:
        places = [i for i, name in enumerate(load) if _matches(plugin, (name,))]
        return min(places, default=len(load))

    return sorted(plugins, key=place)


def normal(name: str) -> str:
    """A distribution's name in the form in which two spellings compare equal."""
    return re.sub(r"[-_.]+", "-", name).lower()


def names(text: str) -> list[str]:
    """The parts of a comma-separated list."""
    return [part.strip() for part in text.split(",") if part.strip()]


def owner(point: EntryPoint) -> tuple[str, str]:
    """Name and version of the distribution that declares an entry point."""
    dist = point.dist
    if dist is None:
        return "unknown distribution", "?"
    try:
        return str(dist.name or "unknown distribution"), str(dist.version or "?")
    except Exception:
        return "unknown distribution", "?"


def _plugin(point: EntryPoint) -> Plugin:
    distribution, version = owner(point)
    return Plugin(point.name, distribution, version, load=point.load)


def _matches(plugin: Plugin, wanted: Iterable[str]) -> bool:
    own = (plugin.name, normal(plugin.distribution))
    return any(name == own[0] or normal(name) == own[1] for name in wanted)


def _unknown(plugins: Sequence[Plugin], wanted: Iterable[str], origin: str) -> list[str]:
    installed = ", ".join(sorted({plugin.distribution for plugin in plugins})) or "none"
    return [
        f"{origin} names {name!r}, which is not installed; installed plugins: {installed}"
        for name in wanted
        if not any(_matches(plugin, (name,)) for plugin in plugins)
    ]


def _duplicates(plugins: Sequence[Plugin]) -> list[str]:
    """Two distributions with one entry-point name: neither is loaded, both are named."""
    by_name: dict[str, list[Plugin]] = {}
    for plugin in plugins:
        if plugin.status == "loaded":
            by_name.setdefault(plugin.name, []).append(plugin)
    problems = []
    for name, group in by_name.items():
        if len(group) < 2:
            continue
        both = " and ".join(plugin.distribution for plugin in group)
        reason = (
            f"entry point {name!r} of group {GROUP!r} is declared by both {both}; neither is "
            f"loaded: uninstall one, or name one in plugins.block"
        )
        for plugin in group:
            plugin.status, plugin.reason = "shadowed", reason
        problems.append(reason)
    return problems
