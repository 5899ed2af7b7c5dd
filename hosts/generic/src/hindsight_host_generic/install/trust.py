"""Whether Codex was told to trust the hooks that are wired: it runs no others, without a word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hindsight_host_generic.install.files import TomlFile

if TYPE_CHECKING:
    from hindsight_host_generic.agents import Event

TO_DO = "start `codex` once and accept the hooks that it shows, or look at `/hooks`"


def untrusted(hooks: Path, config: Path, *, events: Sequence[Event]) -> tuple[str, ...]:
    """What `doctor` says of hooks that nobody has accepted yet; nothing where all are.

    Codex keeps a hash for each hook that was accepted, under ``<file>:<event>:<place>``. That a
    hook was changed since cannot be told from here: Codex shows it when it starts.

    Args:
        hooks: The file with the hooks.
        config: Codex's own configuration.
        events: What is wired.

    Raises:
        ConfigError: The configuration cannot be parsed.
    """
    state = TomlFile(config).get(("hooks", "state"))
    known = [str(key) for key in state] if isinstance(state, dict) else []
    missing = [
        event.name
        for event in events
        if not any(f"{hooks.name}:{_spelt(event.name)}:" in key for key in known)
    ]
    if not missing:
        return ()
    return (f"Codex does not run hooks that were not accepted ({', '.join(missing)}): {TO_DO}.",)


def _spelt(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
