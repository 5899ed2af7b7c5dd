"""One installed plugin: what it is, whether it works, and why not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from hindsight_core.plugins.breaker import PluginBreaker
from hindsight_core.plugins.registries import CORE

Status = Literal["loaded", "broken", "shadowed", "blocked", "not chosen"]


@dataclass(slots=True)
class Plugin:
    """A plugin as ``hindsight-mem plugins`` shows it.

    Attributes:
        name: Name of its entry point.
        distribution: The distribution that ships it.
        version: That distribution's version.
        status: ``shadowed`` when another distribution uses the same entry-point name.
        reason: Why it is not loaded.
        hooks: Hooks that it implements.
        provides: What it registered: registry name and name, as ``banks: toy``.
    """

    name: str
    distribution: str
    version: str
    status: Status = "loaded"
    reason: str | None = None
    hooks: tuple[str, ...] = ()
    provides: tuple[str, ...] = ()
    object: Any = None
    breaker: PluginBreaker | None = None
    stuck: int = 0
    noticed: bool = False
    load: Callable[[], Any] | None = field(default=None, repr=False)

    @property
    def builtin(self) -> bool:
        """Whether it is part of this package."""
        return self.distribution == CORE

    @property
    def label(self) -> str:
        """Distribution, version and entry point, for messages."""
        return f"{self.distribution} {self.version} (plugin {self.name!r})"
