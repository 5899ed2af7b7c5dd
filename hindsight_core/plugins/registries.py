"""What plugins registered by name: one registry for each kind of thing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from hindsight_core.errors import ConfigError, HindsightError, PluginError

CORE = "hindsight-core"

KINDS: Mapping[str, str] = MappingProxyType(
    {
        "banks": "bank",
        "embedders": "embedder",
        "models": "model provider",
        "decision_backends": "decision backend",
        "tools": "tool",
        "commands": "command",
        "cli": "command line command",
        "importers": "transcript reader",
        "task_readers": "task reader",
        "redactors": "set of secret shapes",
        "checks": "check",
        "profiles": "profile",
        "sections": "settings section",
    }
)
"""Registry name (and ending of its hook, ``hindsight_register_<name>``) to the word for users."""


@dataclass(frozen=True, slots=True)
class Registered:
    """One registered thing.

    Attributes:
        name: What users write in their configuration.
        factory: Makes the object; its arguments are those of the hook's docstring.
        distribution: Who ships it; ``hindsight-core`` for a built-in.
        plugin: Name of the plugin inside its distribution.
    """

    name: str
    factory: Callable[..., Any]
    distribution: str
    plugin: str = ""

    def create(self, *args: Any) -> Any:  # noqa: ANN401 - as different as the hooks
        """Call the factory.

        Raises:
            PluginError: The factory of a third party failed; our own errors pass unchanged.
        """
        try:
            return self.factory(*args)
        except HindsightError:
            raise
        except Exception as error:
            if self.distribution == CORE:
                raise
            raise PluginError(
                f"{self.distribution}: {self.name!r} cannot be started: "
                f"{type(error).__name__}: {error}; correct its settings or block it with "
                f"plugins.block",
                distribution=self.distribution,
            ) from error


class Registry(Mapping[str, Registered]):
    """Name to `Registered`; two owners of one name are an error that names both.

    A built-in keeps its name. A name that two third parties claim belongs to neither: looking it
    up raises `PluginError`, so that an installation order never decides which one runs.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._items: dict[str, Registered] = {}
        self._shadowed: list[Registered] = []
        self._disputes: dict[str, PluginError] = {}

    @property
    def shadowed(self) -> tuple[Registered, ...]:
        """Those that lost their name to a built-in, or that dispute one."""
        return tuple(self._shadowed)

    def add(self, item: Registered) -> PluginError | None:
        """Add one; the error that a duplicate name is, if it is one."""
        holder = self._items.get(item.name)
        if holder is None:
            dispute = self._disputes.get(item.name)
            if dispute is not None and item.distribution != CORE:
                self._shadowed.append(item)
                return dispute
            self._items[item.name] = item
            return None
        return self._conflict(holder, item)

    def require(self, name: str) -> Registered:
        """The owner of a name that a user wrote.

        Raises:
            ConfigError: Nobody provides it; the message lists what there is.
            PluginError: Two distributions claim it.
        """
        try:
            return self[name]
        except KeyError:
            known = ", ".join(sorted(self)) or "none"
            raise ConfigError(
                f"no {KINDS[self.kind]} named {name!r}; there is: {known}. Install the plugin "
                f"that provides it, or change the setting."
            ) from None

    def remove(self, distribution: str, plugin: str) -> None:
        """Forget what a plugin that turned out broken had registered."""
        for name, item in list(self._items.items()):
            if (item.distribution, item.plugin) == (distribution, plugin):
                del self._items[name]

    def _conflict(self, holder: Registered, item: Registered) -> PluginError:
        other = item if item.distribution != CORE else holder
        error = PluginError(
            f"{KINDS[self.kind]} {item.name!r} is registered by both {holder.distribution} and "
            f"{item.distribution}; uninstall one of them or name one in plugins.block",
            distribution=other.distribution,
        )
        self._shadowed.append(other)
        if item.distribution == CORE:
            self._items[item.name] = item
        elif holder.distribution != CORE:
            del self._items[item.name]
            self._shadowed.append(holder)
            self._disputes[item.name] = error
        return error

    def __getitem__(self, name: str) -> Registered:
        """The owner of a name; `PluginError` when two claim it, `KeyError` when none does."""
        if name not in self._items and name in self._disputes:
            raise self._disputes[name]
        return self._items[name]

    def __contains__(self, name: object) -> bool:
        """Whether the name can be used."""
        return name in self._items

    def __iter__(self) -> Iterator[str]:
        """Names in the order of their registration."""
        return iter(self._items)

    def __len__(self) -> int:
        """How many names can be used."""
        return len(self._items)
