"""The plugins' own sections, each validated by the model that its plugin registered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hindsight_core.config import schema

if TYPE_CHECKING:
    from pydantic import BaseModel

    from hindsight_core.config.merge import Merger
    from hindsight_core.config.settings import Settings


def plugin_sections(
    merged: Merger, models: Mapping[str, type[BaseModel]] | None
) -> dict[str, BaseModel]:
    """Plugin -> its section; problems go to the merger's warnings.

    Args:
        merged: All layers.
        models: Plugin -> its model; None when plugins are not loaded, and nothing is checked.
    """
    if models is None:
        return {}
    named = {schema.snake(name): (name, model) for name, model in models.items()}
    for name in merged.plugins.keys() - named.keys():
        near = schema.nearest(name, tuple(named))
        hint = f"; did you mean {near}?" if near else ""
        where = next(o for path, o in merged.origins.items() if path.startswith(f"plugins.{name}."))
        merged.warnings.append(f"{where}: plugins.{name}: no plugin of this name is loaded{hint}")
    built = {name: _build(short, model, merged) for short, (name, model) in named.items()}
    return {name: section for name, section in built.items() if section is not None}


def check_plugin_value(name: str, value: object, settings: Settings) -> None:
    """Ask the plugin's model whether ``plugins.<plugin>.<key>`` may have a value.

    A plugin that is not loaded is not asked: its settings may be written before it is installed.

    Raises:
        ValueError: It may not; the message is what is expected.
    """
    from pydantic import ValidationError

    _, short, key = name.split(".", 2)
    found = (s for plugin, s in settings.plugins.sections.items() if schema.snake(plugin) == short)
    section = next(found, None)
    if section is None:
        return
    fields = type(section).model_fields
    if key not in fields and section.model_config.get("extra") != "allow":
        near = schema.nearest(key, tuple(fields))
        raise ValueError(
            f"one of {', '.join(fields)}" + (f"; did you mean {near}?" if near else "")
        )
    try:
        type(section).model_validate({**section.model_dump(), key: value})
    except ValidationError as error:
        wrong = [item["msg"] for item in error.errors() if item["loc"] and item["loc"][0] == key]
        if wrong:
            raise ValueError(wrong[0].removeprefix("Input should be ")) from None


def _build(short: str, model: type[BaseModel], merged: Merger) -> BaseModel | None:
    """The section without its wrong keys; None when a required key is missing."""
    from pydantic import ValidationError

    values = dict(merged.plugins.get(short, {}))
    _drop_unknown(short, model, values, merged)
    while True:
        try:
            return model.model_validate(values)
        except ValidationError as error:
            wrong = {str(item["loc"][0]): item["msg"] for item in error.errors() if item["loc"]}
            known = wrong.keys() & values.keys()
            for key in sorted(known):
                _warn(short, key, values.pop(key), wrong[key], merged)
            if not known:
                missing = ", ".join(f"plugins.{short}.{key}" for key in wrong) or f"plugins.{short}"
                merged.warnings.append(f"{missing} must be set, or the plugin gets no section")
                return None


def _drop_unknown(
    short: str, model: type[BaseModel], values: dict[str, object], merged: Merger
) -> None:
    names = {name for name in model.model_fields}
    names |= {f.alias for f in model.model_fields.values() if f.alias}
    if model.model_config.get("extra") == "allow":
        return
    for key in [key for key in values if key not in names]:
        del values[key]
        near = schema.nearest(key, tuple(names))
        hint = f"; did you mean {near}?" if near else ""
        where = merged.origins.get(f"plugins.{short}.{key}", "default")
        merged.warnings.append(f"{where}: unknown key plugins.{short}.{key}{hint}")


def _warn(short: str, key: str, value: object, message: str, merged: Merger) -> None:
    path = f"plugins.{short}.{key}"
    shown = schema.MASK if schema.is_secret(path) else repr(value)
    where = merged.origins.get(path, "default")
    expected = message.removeprefix("Input should be ")
    merged.warnings.append(f"{where}: {path} = {shown}: expected {expected}; its default stays")
