"""What a pydantic form looks like from outside: its keys, its one list, a description."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import AliasChoices, BaseModel
from pydantic.fields import FieldInfo

_LISTS = (list, tuple, set, frozenset, Sequence, AbstractSet)
_NAMES: dict[object, str] = {
    str: "str",
    int: "int",
    float: "number",
    bool: "bool",
    type(None): "null",
    Any: "any",
}


def plain(annotation: object) -> object:
    """An annotation without ``Annotated`` and without ``| None``."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return plain(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        options = [a for a in get_args(annotation) if a is not type(None)]
        return plain(options[0]) if len(options) == 1 else annotation
    return annotation


def nullable(annotation: object) -> bool:
    """Whether null is a value of this annotation."""
    return annotation in (Any, None, type(None)) or type(None) in get_args(annotation)


def item_of(annotation: object) -> object | None:
    """Type of a list's items; None when it is no list."""
    kind = plain(annotation)
    origin = get_origin(kind)
    if kind in _LISTS:
        return Any
    if origin not in _LISTS:
        return None
    arguments: tuple[object, ...] = get_args(kind)
    return arguments[0] if arguments else Any


def model_of(annotation: object) -> type[BaseModel] | None:
    """The pydantic model that an annotation is, if it is one."""
    kind = plain(annotation)
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def keys_of(name: str, field: FieldInfo) -> list[str]:
    """Every key that a field may be given under; the first is the one validation takes."""
    wanted = field.validation_alias or field.alias
    if isinstance(wanted, AliasChoices):
        return [choice for choice in wanted.choices if isinstance(choice, str)] + [name]
    return [wanted, name] if isinstance(wanted, str) else [name]


def sole_list(form: type[BaseModel]) -> str | None:
    """Name of the only list of a form whose other fields may be left out; else None."""
    lists = [n for n, f in form.model_fields.items() if item_of(f.annotation) and not is_rejects(f)]
    others = [n for n, f in form.model_fields.items() if f.is_required() and n not in lists]
    return lists[0] if len(lists) == 1 and not others else None


def sole_text(form: type[BaseModel]) -> str | None:
    """Name of the one text that an item consists of at least; else None."""
    required = [n for n, f in form.model_fields.items() if f.is_required()]
    names = required or (["text"] if "text" in form.model_fields else [])
    if len(names) != 1 or plain(form.model_fields[names[0]].annotation) is not str:
        return None
    return names[0]


def is_rejects(field: FieldInfo) -> bool:
    """Whether a field is the one that takes the reasons of left out items."""
    return any(mark == "rejects" for mark in field.metadata)


def describe(annotation: object, *, depth: int = 0) -> str:
    """A form or annotation in one line, for the repair prompt."""
    kind = plain(annotation)
    form = model_of(kind)
    if form is not None:
        return _describe_form(form, depth) if depth < 6 else "{...}"
    item = item_of(kind)
    if item is not None:
        return f"[{describe(item, depth=depth + 1)}]"
    origin = get_origin(kind)
    if origin is Literal:
        return " | ".join(f'"{value}"' for value in get_args(kind))
    if origin in (dict, Mapping):
        return f"{{str: {describe(get_args(kind)[1], depth=depth + 1)}}}"
    if origin in (Union, types.UnionType):
        return " | ".join(describe(option, depth=depth + 1) for option in get_args(kind))
    return next((name for known, name in _NAMES.items() if known is kind), "any")


def _describe_form(form: type[BaseModel], depth: int) -> str:
    parts = [
        f'"{keys_of(name, field)[0]}"{"" if field.is_required() else "?"}: '
        f"{describe(field.annotation, depth=depth + 1)}"
        for name, field in form.model_fields.items()
        if not is_rejects(field)
    ]
    return "{" + ", ".join(parts) + "}"
