"""The effective configuration as plain data: every value, its origin, secrets masked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, SecretStr

from hindsight_core.config import schema

if TYPE_CHECKING:
    from hindsight_core.config.layers import Loaded
    from hindsight_core.config.settings import Settings

_USERINFO = re.compile(r"(?<=://)[^/@\s]+@")


def rows(loaded: Loaded) -> dict[str, dict[str, Any]]:
    """``section.key`` -> ``{"value", "origin"}``, for everything that can be set."""
    found = {
        path: {"value": shown(path, value(loaded.settings, path)), "origin": loaded.origins[path]}
        for path in schema.known_keys()
    }
    for stage, text in loaded.settings.prompts.items():
        path = f"prompts.{stage}"
        found[path] = {"value": text, "origin": loaded.origins.get(path, "default")}
    for name, section in loaded.settings.plugins.sections.items():
        for key, item in _plain(section).items():
            path = f"plugins.{schema.snake(name)}.{key}"
            origin = loaded.origins.get(path, "default")
            found[f"plugins.{name}.{key}"] = {"value": shown(path, item), "origin": origin}
    for name, block in loaded.settings.agents.items():
        path = f"agents.{name}"
        found[path] = {"value": _masked(block), "origin": loaded.origins.get(path, "configuration")}
    return found


def value(settings: Settings, path: str) -> object:
    """One setting's value."""
    section, _, key = path.rpartition(".")
    return getattr(getattr(settings, section) if section else settings, key)


def shown(path: str, item: object) -> object:
    """A value as JSON holds it, without what must not be seen."""
    if item is not None and (schema.is_secret(path) or isinstance(item, SecretStr)):
        return schema.MASK
    return _masked(_plain(item))


def _plain(item: object) -> Any:  # noqa: ANN401 - JSON
    if isinstance(item, BaseModel):
        return {name: _plain(getattr(item, name)) for name in type(item).model_fields}
    if isinstance(item, SecretStr):
        return schema.MASK
    if isinstance(item, Mapping):
        return {str(name): _plain(inner) for name, inner in item.items()}
    if isinstance(item, (list, tuple, set, frozenset)):
        return [_plain(inner) for inner in item]
    return item if isinstance(item, (str, int, float, bool, type(None))) else str(item)


def _masked(item: object, *, name: str = "") -> Any:  # noqa: ANN401 - JSON
    if isinstance(item, Mapping):
        return {key: _masked(inner, name=str(key)) for key, inner in item.items()}
    if isinstance(item, (list, tuple)):
        return [_masked(inner) for inner in item]
    if isinstance(item, str):
        if name and item and schema.is_secret(f"own.{name}"):
            return schema.MASK
        return _USERINFO.sub(f"{schema.MASK}@", item)
    return item
