"""Writes pi's wiring: shim files in our own folder, one line in pi's settings."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hindsight_core.errors import ConfigError
from hindsight_core.extension_host.shim import removed, shim_changes
from hindsight_core.host import Change, InstallPlan, InstallRequest

ORIGINAL = "pi-hindsight"
SHIM_FILES = ("index.ts",)
BRIDGE_FILES = ("client.js", "screen.js", "extension.js")
_INDENT = re.compile(r"\A\s*\{\r?\n([ \t]+)\S")


def install(request: InstallRequest) -> InstallPlan:
    """The shim, its client, how to start the bridge, and the entry in ``extensions``.

    Raises:
        ConfigError: pi's settings cannot be parsed, or the original plugin is installed and the
            user did not say that it may be replaced: two memories would store everything twice.
    """
    settings = _settings_path(request)
    text, table = _read(settings)
    notes = []
    originals = _originals(table)
    if originals and not request.replace:
        raise ConfigError(
            f"{settings} already loads {', '.join(originals)}: memory would be stored twice. "
            "Run `hindsight-mem install pi --replace` to take it out (its options stay where "
            "they are and are read), or remove it yourself."
        )
    after = dict(table)
    for key in ("packages", "extensions"):
        if originals and isinstance(after.get(key), list):
            after[key] = [item for item in after[key] if _name(item) not in originals]
    if originals:
        notes.append(f"Took {', '.join(originals)} out of {settings}.")
    entry = str(request.shims / "index.ts")
    extensions = after.get("extensions")
    if extensions is not None and not isinstance(extensions, list):
        raise ConfigError(f"{settings}: `extensions` must be a list; correct it and try again")
    if entry not in (extensions or []):
        after["extensions"] = [*(extensions or []), entry]
    changes = [*_shim(request), _change(settings, text, table, after)]
    return InstallPlan(tuple(c for c in changes if c.before != c.after), tuple(notes))


def uninstall(request: InstallRequest) -> InstallPlan:
    """Our entry out of the settings, our files away; everything else stays."""
    settings = _settings_path(request)
    text, table = _read(settings)
    after = dict(table)
    entry = str(request.shims / "index.ts")
    if isinstance(after.get("extensions"), list) and entry in after["extensions"]:
        after["extensions"] = [item for item in after["extensions"] if item != entry]
        if not after["extensions"]:
            del after["extensions"]
    changes = [_change(settings, text, table, after)]
    if request.project is None:
        changes += removed(_shim(request))
    return InstallPlan(tuple(c for c in changes if c.before != c.after))


def agent_dir(env: Mapping[str, str]) -> Path:
    """The folder of pi's configuration."""
    configured = env.get("PI_CODING_AGENT_DIR")
    home = Path(env.get("HOME") or Path.home())
    return Path(configured).expanduser() if configured else home / ".pi" / "agent"


def _settings_path(request: InstallRequest) -> Path:
    if request.project is not None:
        return request.project / ".pi" / "settings.json"
    return agent_dir(request.env) / "settings.json"


def _read(path: Path) -> tuple[str | None, dict[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None, {}
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}. Nothing was changed.") from error
    if not text.strip():
        return text, {}
    try:
        table = json.loads(text)
    except ValueError as error:
        line = getattr(error, "lineno", 1)
        raise ConfigError(
            f"{path}, line {line}: not valid JSON ({error}). Nothing was changed; "
            "correct the file and try again."
        ) from error
    if not isinstance(table, dict):
        raise ConfigError(f"{path}, line 1: must hold a JSON object. Nothing was changed.")
    return text, table


def _change(path: Path, text: str | None, table: dict[str, Any], after: dict[str, Any]) -> Change:
    if after == table:
        return Change(path, text, text)
    indent = _INDENT.search(text or "")
    return Change(
        path, text, json.dumps(after, indent=indent[1] if indent else 2, ensure_ascii=False) + "\n"
    )


def _shim(request: InstallRequest) -> list[Change]:
    own = SHIM_FILES
    return shim_changes(request, package="hindsight_host_pi", own=own, shared=BRIDGE_FILES)


def _originals(table: dict[str, Any]) -> list[str]:
    listed = [*(table.get("packages") or []), *(table.get("extensions") or [])]
    return [name for item in listed if ORIGINAL in (name := _name(item))]


def _name(item: object) -> str:
    if isinstance(item, dict):
        item = item.get("source", item.get("path", ""))
    return item if isinstance(item, str) else ""
