"""Memory plugins that this one replaces, wherever omp may load them from."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from hindsight_core.host import InstallRequest
from hindsight_host_omp.places import LEGACY, OWN, config_dir, plugins_dir

NAMES = re.compile(r"pi-hindsight|pi-active-memory", re.IGNORECASE)


def named(item: object) -> str | None:
    """The entry of a settings list that is one of them."""
    return item if isinstance(item, str) and NAMES.search(item) else None


def placed(request: InstallRequest) -> Iterator[tuple[str, str]]:
    """What it is and how the user takes it out, of those that no entry of ``config.yml`` loads."""
    folder = config_dir(request)
    for path in sorted((folder / "extensions").glob("*")):
        if path.name != OWN and NAMES.search(path.name):
            yield str(path), f"remove {path}"
    for item in _list(folder / LEGACY, "extensions"):
        if named(item):
            yield str(item), f"take it out of {folder / LEGACY}"
    for item in _list(plugins_dir(request.env) / "package.json", "dependencies"):
        if named(item):
            yield str(item), f"run `omp plugin uninstall {item}`"


def _list(path: Path, key: str) -> list[object]:
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        # omp reads it as leniently: what it cannot read loads nothing.
        return []
    value = table.get(key) if isinstance(table, dict) else None
    return [*value] if isinstance(value, list | dict) else []
