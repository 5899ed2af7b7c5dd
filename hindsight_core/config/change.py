"""Changes one setting in a file, checked before it is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hindsight_core.config import schema
from hindsight_core.config.files import patch
from hindsight_core.config.sections import check_plugin_value
from hindsight_core.errors import ConfigError

if TYPE_CHECKING:
    from hindsight_core.config.layers import Loaded
    from hindsight_core.config.settings import Settings

PROJECT_FILE = ".hindsight/config.toml"


def user_file(loaded: Loaded) -> Path:
    """The user's file, in the form it already has."""
    other = loaded.paths.config.with_suffix(".json")
    return other if other.is_file() and not loaded.paths.config.is_file() else loaded.paths.config


def project_file(loaded: Loaded) -> Path:
    """The project's file of ours, in the form it already has.

    Raises:
        ConfigError: This folder is no project.
    """
    if loaded.project.checkout is None:
        raise ConfigError(f"{loaded.bank.reason}. Run this inside a project.")
    path = loaded.project.checkout / PROJECT_FILE
    other = path.with_suffix(".json")
    return other if other.is_file() and not path.is_file() else path


def checked(key: str, text: str, *, project: bool, settings: Settings) -> tuple[str, object]:
    """The key in our style and the value that `change` would write; nothing is written.

    Raises:
        ConfigError: As `change`.
    """
    name = resolve(key)
    if project and schema.is_secret(name):
        raise ConfigError(
            f"{name} is a secret and never written to a project's file. Leave out --project, or "
            "set hindsight.token_env to the name of an environment variable."
        )
    try:
        value = _parse(name, text)
        if name in schema.known_keys():
            _check_order(name, schema.check(name, value), settings)
        elif name.startswith("plugins."):
            check_plugin_value(name, value, settings)
    except ValueError as error:
        shown = schema.MASK if schema.is_secret(name) else repr(text)
        raise ConfigError(f"{name} = {shown}: expected {error}") from None
    return name, value


def change(
    path: Path, key: str, text: str, *, project: bool, settings: Settings
) -> tuple[str, object]:
    """Set a key in a file; gives the key in our style and the value written.

    Args:
        path: The file; made when it does not exist.
        key: ``section.key``, also in camelCase; ``prompts.<stage>``; ``plugins.<name>.<key>``.
        text: The value as text: JSON for tables, comma-separated for lists.
        project: The file is a project's, which never holds a secret.
        settings: What is effective now: the new value must fit to it (am/A-CFG-6).

    Raises:
        ConfigError: Unknown key, wrong value, a secret for a project's file, or the file cannot
            be written.
    """
    name, value = checked(key, text, project=project, settings=settings)
    patch(path, {name: value})
    return name, value


def resolve(key: str) -> str:
    """The key in our style.

    Raises:
        ConfigError: There is no such key; the message names the nearest.
    """
    name = schema.snake(key) if not key.startswith("prompts.") else key
    section, _, rest = name.partition(".")
    open_key = (section == "prompts" and rest) or (section == "plugins" and "." in rest)
    if name in schema.known_keys() or open_key:
        return name
    near = schema.nearest(name)
    raise ConfigError(f"unknown key {key}" + (f"; did you mean {near}?" if near else ""))


def _check_order(name: str, value: Any, settings: Settings) -> None:  # noqa: ANN401
    section, _, key = name.rpartition(".")
    for group in schema.sections()[section].ordered if section else ():
        if key not in group:
            continue
        found = [
            value if part == key else getattr(getattr(settings, section), part) for part in group
        ]
        if found != sorted(found):
            raise ValueError(" <= ".join(group))


def _parse(name: str, text: str) -> object:
    if name in schema.known_keys():
        return schema.parse_text(name, text)
    if name.startswith("prompts."):
        return text
    try:
        return json.loads(text)  # a plugin's key: its own model decides
    except ValueError:
        return text
