"""Long-term memory for coding agents, as a plugin framework."""

from __future__ import annotations

# `typing` alone costs a spawned hook as much as the rest of its way to the daemon.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hindsight_core.hookspecs import hookimpl as hookimpl

__version__ = "0.1.0"

_EXPORTS = {
    "hookimpl": "hindsight_core.hookspecs",
}
__all__ = sorted([*_EXPORTS, "__version__"])


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever is exported
    """Import a public name when it is first used, so that hooks start fast."""
    from importlib import import_module

    if name not in _EXPORTS:
        raise AttributeError(f"module 'hindsight_core' has no attribute {name!r}")
    return getattr(import_module(_EXPORTS[name]), name)
