"""A table from a file or a host in the form of settings: own keys, camelCase, the plugins' keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hindsight_core.config import schema
from hindsight_core.config.convert import SAME

if TYPE_CHECKING:
    from hindsight_core.config.legacy import Old


@dataclass(frozen=True, slots=True)
class Item:
    """One value of a layer.

    Attributes:
        path: The setting, ``section.key``.
        value: As it was given.
        given: The key as the user wrote it.
        origin: Where exactly, when that is more than the layer's own origin.
    """

    path: str
    value: object
    given: str
    origin: str | None = None


@dataclass(frozen=True, slots=True)
class Layer:
    """All that one place says.

    Attributes:
        kind: Which place it is (`hindsight_core.config.merge.KINDS`).
        origin: Shown to the user: a path, a variable, the host's options.
        problems: What was wrong with it, as whole sentences.
        agents: Agent -> that agent's table, untranslated.
    """

    kind: str
    origin: str
    items: tuple[Item, ...] = ()
    problems: tuple[str, ...] = ()
    agents: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def translate(
    table: Mapping[str, Any],
    *,
    kind: str,
    origin: str,
    old: tuple[Old, ...],
    own_first: bool = True,
) -> Layer:
    """Read one table.

    Args:
        table: What the file or host gave.
        kind: Kind of the layer.
        origin: Where it is from.
        old: Keys of the older plugins that may stand in it.
        own_first: Whether a key that is ours and theirs is taken for ours.
    """
    reader = _Reader(table, origin, old, own_first=own_first)
    reader.read(table)
    return Layer(kind, origin, tuple(reader.items), tuple(reader.problems), reader.agents)


class _Reader:
    def __init__(
        self, table: Mapping[str, Any], origin: str, old: tuple[Old, ...], *, own_first: bool
    ) -> None:
        self.items: list[Item] = []
        self.problems: list[str] = []
        self.agents: dict[str, Mapping[str, Any]] = {}
        self._origin = origin
        self._own_first = own_first
        self._old: dict[str, Old] = {}
        self._void: set[str] = set()
        for row in old:
            # In our style as well: whoever moves to a TOML file writes `recall_max_lines`.
            names = {row.key, schema.snake(row.key)}
            if _void(row, table):
                self._void |= names
            else:
                self._old |= dict.fromkeys(names, row)
        outer = {name.rpartition(".")[0] for name in (*self._old, *self._void)}
        self._old_sections = {name[:size] for name in outer for size in _cuts(name)}

    def read(self, table: Mapping[str, Any], prefix: str = "") -> None:
        for key, value in table.items():
            given = f"{prefix}{key}"
            own = schema.snake(given)
            mine = own in schema.known_keys()
            row = self._old.get(given)
            if mine and (self._own_first or row is None):
                self.items.append(Item(own, value, given))
            elif row is not None:
                self._replace(row, value, given)
            elif not self._inside(key, value, given, own, top=not prefix):
                self._unknown(given)

    def _inside(self, key: str, value: object, given: str, own: str, *, top: bool) -> bool:
        """Whether the key is a table of some kind, read or reported here."""
        if given in self._void:
            return True
        is_table = isinstance(value, dict)
        a_section = own in schema.sections() or given in self._old_sections
        if top and own in ("agents", "prompts", "plugins", "defaults") and is_table:
            getattr(self, f"_{own}")(value)
        elif a_section or (top and own in schema.OPEN):
            if not isinstance(value, dict):
                self.problems.append(f"{self._origin}: {given}: expected a table of settings")
            else:
                self.read(value, f"{given}.")
        else:
            return False
        return True

    def _agents(self, table: Mapping[str, Any]) -> None:
        for name, block in table.items():
            if isinstance(block, dict):
                self.agents[name] = block
            else:
                self.problems.append(f"{self._origin}: agents.{name}: expected a table of settings")

    def _prompts(self, table: Mapping[str, Any]) -> None:
        for stage, text in _stages(table):
            self.items.append(Item(f"prompts.{stage}", text, f"prompts.{stage}"))

    def _plugins(self, table: Mapping[str, Any]) -> None:
        for key, value in table.items():
            own = f"plugins.{schema.snake(key)}"
            if own in schema.known_keys():
                self.items.append(Item(own, value, f"plugins.{key}"))
            elif isinstance(value, dict):
                for name, inner in value.items():
                    path = f"{own}.{schema.snake(name)}"
                    self.items.append(Item(path, inner, f"plugins.{key}.{name}"))
            else:
                self._unknown(f"plugins.{key}")

    def _defaults(self, table: Mapping[str, Any]) -> None:
        """Options for all agents (oc/O-CFG-2); they stand beside the host's other options."""
        rest = dict(table)
        row = self._old.get("defaults.enabled")
        if row is not None and "enabled" in rest:
            self._replace(row, rest.pop("enabled"), "defaults.enabled")
        self.read(rest)

    def _replace(self, row: Old, value: object, given: str) -> None:
        if row.advice:
            self.problems.append(f"{self._origin}: {given} has no effect: {row.advice}")
            return
        try:
            found = row.convert(value) if row.convert else {SAME: value}
        except ValueError as error:
            self.problems.append(f"{self._origin}: {given}: expected {error}; the key is left out")
            return
        for path, item in found.items():
            self.items.append(Item(str(row.new) if path == SAME else path, item, given))

    def _unknown(self, given: str) -> None:
        names = (*schema.known_keys(), *schema.sections(), *schema.OPEN, *self._old)
        near = schema.nearest(given, names) or schema.nearest(schema.snake(given), names)
        hint = f"; did you mean {near}?" if near else ""
        self.problems.append(f"{self._origin}: unknown key {given}{hint}")


def _stages(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, object]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _stages(value, f"{prefix}{key}/")
        else:
            yield f"{prefix}{key}", value


def _void(row: Old, table: Mapping[str, Any]) -> bool:
    here: object = table
    for part in (row.unless or "").split("."):
        if not part or not isinstance(here, dict) or part not in here:
            return False
        here = here[part]
    return True


def _cuts(name: str) -> Iterator[int]:
    """Lengths of a dotted name and of everything it stands in."""
    for position, char in enumerate(name):
        if char == ".":
            yield position
    if name:
        yield len(name)
