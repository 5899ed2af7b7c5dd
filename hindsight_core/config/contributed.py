"""Profiles and settings sections that plugins registered, as `load` takes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypedDict

from hindsight_core.errors import PluginError

if TYPE_CHECKING:
    from pydantic import BaseModel

    from hindsight_core.plugins import Hooks


class Contributions(TypedDict):
    """Keyword arguments of `hindsight_core.config.layers.load`."""

    profiles: Mapping[str, Mapping[str, Any]]
    sections: Mapping[str, type[BaseModel]]


def contributions(hooks: Hooks) -> Contributions:
    """What the loaded plugins add; a profile that cannot be made is left out as a problem."""
    profiles: dict[str, Mapping[str, Any]] = {}
    for name, item in hooks.profiles.items():
        try:
            made = item.create()
        except PluginError as error:
            hooks.problems.append(str(error))
            continue
        if isinstance(made, Mapping):
            profiles[name] = made
        else:
            hooks.problems.append(f"{item.distribution}: profile {name} is not a table of settings")
    sections = {name: item.factory for name, item in hooks.sections.items()}
    return {"profiles": profiles, "sections": sections}  # type: ignore[typeddict-item]
