"""Layers laid over each other, key by key; a wrong value is an error for its key alone."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from hindsight_core.config import schema
from hindsight_core.config.translate import Item, Layer

# The places values come from, weakest first.
KINDS = (
    "default",
    "profile",
    "old-env",
    "host-global",
    "own-global",
    "project",
    "host",
    "agent",
    "pi-env",
    "env",
    "override",
    "kill",
)
# `bank.id` has an order of its own: the plugins' variable beats every global file, so that one
# project can be pointed at a bank for one run (pi/C-10).
BANK_RANK = {
    kind: rank
    for rank, kind in enumerate(
        (
            "host-global",
            "own-global",
            "old-env",
            "project",
            "host",
            "agent",
            "pi-env",
            "env",
            "override",
        )
    )
}
_UNSET = object()
_UNCHOSEN = ("auto", "none")


@dataclass(frozen=True, slots=True)
class Declared:
    """A value somebody gave for `bank.id`."""

    value: str
    kind: str
    origin: str


class Merger:
    """Takes layers from the weakest to the strongest.

    Attributes:
        values: Every key that a layer has set, validated.
        origins: Where each of them is from.
        kinds: From which kind of place.
        banks: Everything given for `bank.id`, decided later by `BANK_RANK`.
        prompts: Stage -> inline template.
        plugins: Plugin -> its raw section, in the order of layers.
        warnings: What the user should know.
    """

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.origins: dict[str, str] = {}
        self.kinds: dict[str, str] = {}
        self.banks: list[Declared] = []
        self.prompts: dict[str, str] = {}
        self.plugins: dict[str, dict[str, object]] = {}
        self.warnings: list[str] = []

    def apply(self, layer: Layer) -> None:
        """Lay one layer over the others."""
        self.warnings += layer.problems
        before = (dict(self.values), dict(self.origins))
        own = {item.path for item in layer.items}
        self._let_go(layer.items, own)
        for item in layer.items:
            self._set(item, layer)
        self._keep_order(before, own, layer)

    def get(self, path: str) -> Any:  # noqa: ANN401 - whatever the setting holds
        """The value so far."""
        found = self.values.get(path, _UNSET)
        return schema.default(path) if found is _UNSET else found

    def _set(self, item: Item, layer: Layer) -> None:
        origin = item.origin or layer.origin
        section, _, rest = item.path.partition(".")
        if item.path == "bank.id":
            self._declare(item, layer, origin)
        elif section == "prompts":
            self._prompt(rest, item, origin)
        elif section == "plugins" and "." in rest:
            name, _, key = rest.partition(".")
            self.plugins.setdefault(name, {})[key] = item.value
            self._note(item.path, layer, origin)
        elif item.path in schema.known_keys():
            self._value(item.path, item.value, item, layer, origin)
        else:
            self._part(item, layer, origin)

    def _declare(self, item: Item, layer: Layer, origin: str) -> None:
        if layer.kind == "profile":
            self.warnings.append(f"{origin}: a profile cannot choose bank.id; it is left out")
        elif item.value is not None and not isinstance(item.value, str):
            self._wrong(item, "a name, or auto", origin)
        else:
            value = item.value if isinstance(item.value, str) else ""
            self.banks.append(Declared(value, layer.kind, origin))

    def _prompt(self, stage: str, item: Item, origin: str) -> None:
        if not isinstance(item.value, str):
            self._wrong(item, "a template's text", origin)
            return
        self.prompts[stage] = item.value
        self.origins[f"prompts.{stage}"] = origin

    def _part(self, item: Item, layer: Layer, origin: str) -> None:
        """One entry of a table, such as ``recall.min_scores.semantic``."""
        parent, _, name = item.path.rpartition(".")
        if parent not in schema.known_keys():
            near = schema.nearest(item.path)
            hint = f"; did you mean {near}?" if near else ""
            self.warnings.append(f"{origin}: unknown key {item.given}{hint}")
            return
        self._value(parent, {**self.get(parent), name: item.value}, item, layer, origin)

    def _value(self, path: str, value: object, item: Item, layer: Layer, origin: str) -> None:
        try:
            good, left_out = schema.check_items(path, value)
        except ValueError as error:
            self._wrong(item, str(error), origin, path=path)
            return
        for where, expected in left_out:
            self.warnings.append(f"{origin}: {where}: expected {expected}; it is left out")
        if layer.kind == "project" and schema.is_secret(path):
            self.warnings.append(
                f"{origin}: {item.given} is a secret in a project's file; move it to your own "
                "configuration, or name an environment variable with hindsight.token_env"
            )
        self.values[path] = good
        self._note(path, layer, origin)

    def _note(self, path: str, layer: Layer, origin: str) -> None:
        self.origins[path] = origin
        self.kinds[path] = layer.kind

    def _wrong(self, item: Item, expected: str, origin: str, *, path: str | None = None) -> None:
        path = path or item.path
        text = schema.MASK if schema.is_secret(path) else _short(item.value)
        kept = ""
        if path in schema.known_keys() and path != "bank.id":
            now = schema.MASK if schema.is_secret(path) else _short(self.get(path))
            kept = f"; {now} stays ({self.origins.get(path, 'default')})"
        where = origin if origin.endswith(item.given) else f"{origin}: {item.given}"
        self.warnings.append(f"{where} = {text}: expected {expected}{kept}")

    def _let_go(self, items: Iterable[Item], own: set[str]) -> None:
        """Options of one adapter never leak into another one's (am/A-CFG-2)."""
        for name in {item.path.partition(".")[0] for item in items} & schema.sections().keys():
            model = schema.sections()[name]
            for key, tied in model.tied.items():
                old = self.get(f"{name}.{key}")
                new = next((i.value for i in items if i.path == f"{name}.{key}"), old)
                if new != old and old not in _UNCHOSEN:
                    self._reset(name, tied)
            if model.either:
                given = [any(f"{name}.{key}" in own for key in keys) for keys in model.either]
                if given.count(True) == 1:
                    self._reset(name, model.either[given.index(False)])

    def _reset(self, section: str, keys: Iterable[str]) -> None:
        for key in keys:
            for table in (self.values, self.origins, self.kinds):
                table.pop(f"{section}.{key}", None)

    def _keep_order(
        self, before: tuple[dict[str, Any], dict[str, str]], own: set[str], layer: Layer
    ) -> None:
        """Values that must not decrease: the layer that broke the order gives way."""
        for name in {path.partition(".")[0] for path in own} & schema.sections().keys():
            for group in schema.sections()[name].ordered:
                paths = [f"{name}.{key}" for key in group]
                found = [self.get(path) for path in paths]
                if found == sorted(found):
                    continue
                for path in own.intersection(paths):
                    self._restore(path, before)
                order = " <= ".join(group)
                self.warnings.append(
                    f"{layer.origin}: {name}: expected {order}; earlier values stay"
                )

    def _restore(self, path: str, before: tuple[dict[str, Any], dict[str, str]]) -> None:
        for table, old in zip((self.values, self.origins), before, strict=True):
            if path in old:
                table[path] = old[path]
            else:
                table.pop(path, None)


def _short(value: object) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
