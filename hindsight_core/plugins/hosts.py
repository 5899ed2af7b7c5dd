"""Host adapters: looked up by name, so that one host's process never imports another's adapter."""

from __future__ import annotations

from typing import Any

from hindsight_core.errors import ConfigError, PluginError
from hindsight_core.plugins.discovery import owner

GROUP = "hindsight.hosts"


def installed_hosts() -> list[str]:
    """Names of the installed host adapters."""
    from importlib.metadata import entry_points

    return sorted({point.name for point in entry_points(group=GROUP)})


def load_host(name: str) -> Any:  # noqa: ANN401 - a HostAdapter, or what makes one
    """Import one host adapter.

    Raises:
        ConfigError: No such adapter is installed; the message lists those that are.
        PluginError: Two distributions claim the name, or the adapter cannot be imported.
    """
    from importlib.metadata import entry_points

    points = list(entry_points(group=GROUP, name=name))
    if not points:
        installed = ", ".join(installed_hosts()) or "none"
        raise ConfigError(
            f"no host adapter named {name!r}; installed: {installed}. "
            f"Install the distribution that provides it, such as hindsight-host-{name}."
        )
    if len(points) > 1:
        both = " and ".join(sorted(owner(point)[0] for point in points))
        raise PluginError(
            f"host adapter {name!r} is provided by both {both}; uninstall one of them",
            distribution=owner(points[0])[0],
        )
    try:
        return points[0].load()
    except Exception as error:
        # Only now: to read a distribution's metadata costs a spawned hook ten milliseconds.
        distribution, version = owner(points[0])
        raise PluginError(
            f"host adapter {name!r} of {distribution} {version} cannot be imported: "
            f"{type(error).__name__}: {error}. Install it again.",
            distribution=distribution,
        ) from error
