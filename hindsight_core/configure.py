"""Configuration and plugins together: each may add to the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hindsight_core.errors import HindsightError

if TYPE_CHECKING:
    from hindsight_core.config.layers import Loaded
    from hindsight_core.plugins import Hooks


def configure(**arguments: Any) -> tuple[Loaded, Hooks]:  # noqa: ANN401 - those of `load`
    """Configuration and plugins, with the profiles and sections that plugins add.

    Args:
        arguments: Those of `hindsight_core.config.layers.load`.
    """
    from hindsight_core.config.contributed import contributions
    from hindsight_core.config.layers import load

    loaded = load(**arguments)
    hooks = plugins_of(loaded, env=arguments.get("env"))
    if hooks.profiles or hooks.sections:
        loaded = load(**arguments, **contributions(hooks))
    return loaded, hooks


def unprovided(loaded: Loaded, hooks: Hooks) -> list[str]:
    """Settings that name a bank, model provider, embedder or backend that nobody provides."""
    settings = loaded.settings
    named_backends = settings.decision.backends
    chosen = (
        ("bank.backend", loaded.bank.backend, hooks.banks, ()),
        ("models.provider", settings.models.provider, hooks.models, ("auto", "none")),
        ("embeddings.provider", settings.embeddings.provider, hooks.embedders, ("none",)),
    )
    backends = (("decision.backends", b, hooks.decision_backends, ()) for b in named_backends)
    found = []
    for key, name, registry, always in (*chosen, *backends):
        if name in always:
            continue
        try:
            registry.require(name)
        except HindsightError as error:
            besides = f" Or use {' or '.join(always)}." if always else ""
            found.append(f"{key}: {error}{besides}")
    return found


def problems(loaded: Loaded, built: Mapping[str, Any]) -> list[str]:
    """What is wrong with plugins and templates, for the user.

    Args:
        loaded: The effective configuration.
        built: The parts of a runtime that are there already, by name.
    """
    hooks, prompts, embedder = (built.get(name) for name in ("hooks", "prompts", "embedder"))
    unknown = unprovided(loaded, hooks) if hooks is not None else []
    absent = embedder.absent if embedder is not None else None
    known = absent is None or any(absent in problem for problem in unknown)
    return [
        *(hooks.problems if hooks is not None else ()),
        *unknown,
        *(() if known else (f"embeddings.provider: {absent}",)),
        *(prompts.problems if prompts is not None else ()),
    ]


def plugins_of(loaded: Loaded, *, env: Mapping[str, str] | None) -> Hooks:
    """The plugins that the settings choose, and the built-ins."""
    from hindsight_core.banks.builtin import BankPlugin
    from hindsight_core.decision.builtin import DecisionPlugin
    from hindsight_core.plugins import load_hooks
    from hindsight_core.plugins.events import EventPlugin
    from hindsight_core.providers.builtin import ProviderPlugin

    chosen = loaded.settings.plugins
    hooks = load_hooks(
        env=env,
        load=chosen.load,
        block=chosen.block,
        hook_timeout_ms=chosen.hook_timeout_ms,
        builtins=(ProviderPlugin(), BankPlugin(loaded.paths), DecisionPlugin()),
    )
    hooks.register_builtin(EventPlugin(hooks))
    return hooks
