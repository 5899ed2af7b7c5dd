"""What a template sees of a stage's variables: plain data that reads well when printed whole."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping
from typing import Any

_SNAKE = re.compile(r"_([a-z0-9])")


class Lines(tuple[Any, ...]):
    """A list in a prompt: ``{{ facts }}`` prints one item a line, ``1. text`` or ``id: text``."""

    __slots__ = ()

    def __str__(self) -> str:
        """One item a line."""
        return "\n".join(_line(number, item) for number, item in enumerate(self, start=1))


class IdLines(Lines):
    """A list whose items are spoken of by their ``id`` (or ``key``)."""

    __slots__ = ()

    def __str__(self) -> str:
        """One item a line, ids first; banned categories are left out."""
        shown = [item for item in self if not getattr(item, "banned", False)]
        return "\n".join(_line(number, item, ids=True) for number, item in enumerate(shown, 1))


def values(variables: object) -> dict[str, Any]:
    """Names and values for a template, each name in snake_case and in camelCase."""
    context: dict[str, Any] = {}
    for name, value, ids in _items(variables):
        kept = value
        if isinstance(value, list | tuple):
            kept = IdLines(value) if ids else Lines(value)
        context[name] = kept
        context[camel(name)] = kept
    return context


def names(variables: type | object) -> frozenset[str]:
    """The names that a template may use, without their camelCase aliases."""
    if isinstance(variables, Mapping):
        return frozenset(variables)
    if not dataclasses.is_dataclass(variables):
        raise TypeError(f"template variables are a dataclass or a mapping, not {variables!r}")
    return frozenset(field.name for field in dataclasses.fields(variables))


def with_aliases(known: Iterable[str]) -> frozenset[str]:
    """Names together with their camelCase aliases."""
    return frozenset(known) | frozenset(camel(name) for name in known)


def camel(name: str) -> str:
    """``prior_summary`` as ``priorSummary``."""
    return _SNAKE.sub(lambda match: match.group(1).upper(), name)


def _items(variables: object) -> Iterable[tuple[str, Any, bool]]:
    if isinstance(variables, Mapping):
        return [(name, value, False) for name, value in variables.items()]
    if not dataclasses.is_dataclass(variables) or isinstance(variables, type):
        raise TypeError(f"template variables are a dataclass or a mapping, not {variables!r}")
    return [
        (field.name, getattr(variables, field.name), field.metadata.get("lines") == "ids")
        for field in dataclasses.fields(variables)
    ]


def _line(number: int, item: object, *, ids: bool = False) -> str:
    text = " ".join(str(item).split())
    name = (getattr(item, "id", None) or getattr(item, "key", None)) if ids else None
    return f"{name}: {text}" if name else f"{number}. {text}"
