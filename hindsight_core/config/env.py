"""The layers that come from environment variables."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hindsight_core.config import convert, schema
from hindsight_core.config.legacy import OPENCODE, PI, S1, Old
from hindsight_core.config.translate import Item, Layer

OWN = "HINDSIGHT_MEM_"
OFF = "HINDSIGHT_MEM_OFF"
AUTO_OFF = "HINDSIGHT_AUTO_OFF"
# Contours that work by themselves; tools and commands are not among them (pi/C-06).
AUTOMATIC = ("recall", "memorize", "capture", "investigation", "steer")
# Variables of ours that are no settings.
RESERVED = ("HOME", "OFF", "PLUGINS", "TRACE", "INSIDE", "DAEMON", "DAEMON_IDLE_S")
# Set in every process that we start: hooks inside it do nothing (br/BR-04).
INSIDE = "HINDSIGHT_MEM_INSIDE"
_TRUE = ("1", "true", "yes", "on")
_FALSE = ("0", "false", "no", "off", "")


def is_true(text: str) -> bool:
    """1, true, yes or on, in any case; everything else is false (pi/C-03)."""
    return text.strip().lower() in _TRUE


def old_names(env: Mapping[str, str], *, kind: str) -> Layer:
    """The four plugins' variables; each is read by that plugin's own rule.

    Args:
        env: The environment.
        kind: ``old-env`` for ``HINDSIGHT_*``, ``pi-env`` for ``PI_HINDSIGHT_*``.
    """
    prefix = "PI_HINDSIGHT_" if kind == "pi-env" else "HINDSIGHT_"
    # Where two plugins name the same thing, the later of these wins.
    rows = [row for row in (*OPENCODE, *S1, *PI) if row.env and row.env.startswith(prefix)]
    items: list[Item] = []
    problems: list[str] = []
    for row in rows:
        name = str(row.env)
        if name not in env:
            continue
        if row.advice:
            problems.append(f"environment {name} has no effect: {row.advice}")
            continue
        try:
            items += _old_items(row, name, env[name], problems)
        except ValueError as error:
            problems.append(f"environment {name}: expected {error}; the variable is left out")
    return Layer(kind, "environment", tuple(items), tuple(problems))


def _old_items(row: Old, name: str, text: str, problems: list[str]) -> list[Item]:
    path = str(row.new)
    shape = "bool" if row.convert is convert.debug else _shape(path)
    if not text.strip() and shape not in ("bool", "names"):
        return []  # a blank variable of theirs is an unset one (s1/S-CFG-4, pi/C-10)
    if shape == "bool" and text.strip().lower() not in (*_TRUE, *_FALSE):
        problems.append(f"environment {name}: {text!r} is taken for false; write true or false")
    value = _old_value(shape, text)
    found = row.convert(value) if row.convert else {path: value}
    origin = f"environment {name}"
    return [Item(path if p == convert.SAME else p, v, name, origin) for p, v in found.items()]


def _shape(path: str) -> str:
    return schema.kind(path) if path in schema.known_keys() else "float"


def _old_value(shape: str, text: str) -> object:
    if shape == "bool":
        return is_true(text)
    if shape in ("int", "float"):
        form = r"\s*([+-]?\d+)" if shape == "int" else r"\s*([+-]?(?:\d+\.?\d*|\.\d+))"
        found = re.match(form, text)
        if not found:
            raise ValueError("a number")
        return int(found[1]) if shape == "int" else float(found[1])
    if shape == "names":
        return [part.strip() for part in text.split(",") if part.strip()]
    return text.strip()


def own_names(env: Mapping[str, str]) -> Layer:
    """``HINDSIGHT_MEM_<SECTION>__<KEY>``, and the plugins' ``..._PLUGINS__<NAME>__<KEY>``."""
    items: list[Item] = []
    problems: list[str] = []
    for name in sorted(env):
        rest = name.removeprefix(OWN)
        if rest == name or rest in RESERVED:
            continue
        path = _own_path(rest)
        if path is None:
            problem = _unknown(name, rest)
            problems += [problem] if problem else []
            continue
        try:
            known = path in schema.known_keys()
            value = schema.parse_text(path, env[name]) if known else _loose(path, env[name])
        except ValueError as error:
            problems.append(f"environment {name}: expected {error}; the variable is left out")
            continue
        items.append(Item(path, value, name, f"environment {name}"))
    return Layer("env", "environment", tuple(items), tuple(problems))


def _own_path(rest: str) -> str | None:
    section, *keys = rest.lower().split("__")
    path = ".".join((section, *keys))
    if path in schema.known_keys():
        return path
    if section == "prompts" and keys:
        return f"prompts.{'/'.join(keys)}"
    if section == "plugins" and len(keys) == 2:
        return path
    if len(keys) == 2 and schema.known_keys() and ".".join((section, keys[0])) in _tables():
        return path
    return None


def _tables() -> tuple[str, ...]:
    return tuple(key for key in schema.known_keys() if isinstance(schema.default(key), dict))


def _loose(path: str, text: str) -> object:
    """A value without a declared form of its own: part of a table, a prompt, a plugin's key."""
    if path.startswith("recall.min_scores."):
        return _old_value("float", text)
    return text


def _unknown(name: str, rest: str) -> str | None:
    known = tuple(key.replace(".", "__").upper() for key in schema.known_keys())
    near = schema.nearest(rest, known)
    if "__" not in rest and (near is None or near.replace("__", "_") != rest.replace("__", "_")):
        return None  # some other part of ours reads it
    return f"environment {name}: unknown key" + (f"; did you mean {OWN}{near}?" if near else "")


def kill_switches(env: Mapping[str, str]) -> Layer:
    """The two switches that beat everything; an odd text switches off as well."""
    items: list[Item] = []
    if env.get(OFF, "").strip().lower() not in _FALSE:
        items.append(Item("enabled", value=False, given=OFF, origin=f"kill switch {OFF}"))
    if is_true(env.get(AUTO_OFF, "")):
        origin = f"kill switch {AUTO_OFF}"
        for name in AUTOMATIC:
            items.append(Item(f"{name}.enabled", value=False, given=AUTO_OFF, origin=origin))
    return Layer("kill", "kill switch", tuple(items))
