"""Fits parsed JSON to a pydantic form: keys, wrappers, number texts, left out items."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from hindsight_core.providers.forms import (
    is_rejects,
    item_of,
    keys_of,
    model_of,
    nullable,
    plain,
    sole_list,
    sole_text,
)
from hindsight_core.providers.json_text import clean

F = TypeVar("F", bound=BaseModel)

Rejects = Annotated[tuple[str, ...], "rejects"]
"""Annotation of a form's field that takes one reason for each item that was left out.

A form without such a field fails as a whole when one item is wrong. With it the right items are
kept and the loss is counted; when every item is wrong the answer fails all the same.
"""

_NUMBER = re.compile(r"^[#\s]*(-?\d+(?:\.\d+)?)\s*(?:%|\.|\)|/\s*100)?$")
_NUMBERS = re.compile(r"^\s*\[?\s*#?\d+(?:[\s,;]+#?\d+)*\s*\]?\s*$")
_MAX_PROBLEMS = 5


def fit(value: object, form: type[F]) -> F:
    """The value as an object of the form.

    Raises:
        ValueError: It does not have the form; the message names the keys.
    """
    if isinstance(value, ValueError):
        raise value
    problem: ValueError | None = None
    for candidate in _readings(value, form):
        try:
            return _validated(candidate, form)
        except ValueError as error:
            problem = problem or error
    raise problem or ValueError(f"none of the keys {_names(form)} is in the answer")


def _readings(value: object, form: type[BaseModel]) -> list[Mapping[str, object]]:
    """The ways to take a value as the form's object, likeliest first."""
    if isinstance(value, list):
        readings: list[Mapping[str, object]] = []
        name = sole_list(form)
        inner = value[0] if len(value) == 1 and isinstance(value[0], dict) else None
        if inner is not None and _knows(inner, form):
            readings.append(inner)
        if name is not None:
            readings.append({name: value})
        return readings
    if not isinstance(value, dict):
        return []
    if _knows(value, form):
        return [value]
    inner = next(iter(value.values())) if len(value) == 1 else None
    return [inner] if isinstance(inner, dict) and _knows(inner, form) else []


def _validated(value: Mapping[str, object], form: type[F]) -> F:
    rejected: list[str] = []
    fitted = _object(value, form, rejected if _rejects_name(form) else None)
    try:
        return form.model_validate(fitted)
    except ValidationError as error:
        raise ValueError(_explain(error)) from error


def _object(
    value: Mapping[str, object], form: type[BaseModel], rejected: list[str] | None
) -> object:
    given = {_canonical(key): key for key in reversed(list(value))}
    fitted: dict[str, object] = {}
    known: set[str] = set()
    for name, field in form.model_fields.items():
        keys = keys_of(name, field)
        key = next((k for k in keys if k in value), None) or next(
            (given[c] for k in keys if (c := _canonical(k)) in given), None
        )
        if key is None or is_rejects(field):
            continue
        known.add(key)
        item = value[key]
        if item is None and not nullable(field.annotation) and not field.is_required():
            continue
        fitted[_target(name, field, form)] = _value(item, field.annotation, rejected)
    if form.model_config.get("extra") == "allow":
        fitted.update({k: _value(v, Any, None) for k, v in value.items() if k not in known})
    if rejected:
        place = _rejects_name(form)
        if place is not None:
            fitted[_target(place, form.model_fields[place], form)] = tuple(rejected)
    return fitted


def _value(value: object, annotation: object, rejected: list[str] | None) -> object:
    kind = plain(annotation)
    item = item_of(kind)
    if item is not None:
        return _list(value, item, rejected)
    form = model_of(kind)
    if form is not None:
        return _item(value, form)
    if isinstance(value, str):
        return _scalar(clean(value), kind)
    if isinstance(value, float) and kind is int and math.isfinite(value):
        return round(value)
    if isinstance(value, dict):
        inner = get_args(kind)[1] if get_origin(kind) in (dict, Mapping) else Any
        return {clean(str(k)): _value(v, inner, None) for k, v in value.items()}
    if isinstance(value, list):
        return [_value(v, Any, None) for v in value]
    return value


def _item(value: object, form: type[BaseModel]) -> object:
    if isinstance(value, dict):
        return _object(value, form, None)
    name = sole_text(form)
    if isinstance(value, str) and name is not None and value.strip():
        return {_target(name, form.model_fields[name], form): clean(value)}
    return value


def _list(value: object, item: object, rejected: list[str] | None) -> object:
    if isinstance(value, str) and plain(item) is int and _NUMBERS.match(value):
        value = re.findall(r"\d+", value)
    elif isinstance(value, dict | str | int | float) and value != "":
        value = [value]
    if not isinstance(value, list):
        return value
    fitted = [_value(entry, item, None) for entry in value]
    form = model_of(item)
    return fitted if rejected is None or form is None else _kept(fitted, form, rejected)


def _kept(items: list[object], form: type[BaseModel], rejected: list[str]) -> list[object]:
    kept = []
    for number, entry in enumerate(items, 1):
        try:
            form.model_validate(entry)
        except ValidationError as error:
            rejected.append(f"item {number}: {_explain(error)}")
        else:
            kept.append(entry)
    if items and not kept:
        raise ValueError("; ".join(rejected[:_MAX_PROBLEMS]))
    return kept


def _scalar(text: str, kind: object) -> object:
    if kind in (int, float) and (found := _NUMBER.match(text)):
        number = float(found[1])
        return round(number) if kind is int and math.isfinite(number) else number
    if get_origin(kind) is Literal:
        wanted = _canonical(text)
        options = [o for o in get_args(kind) if isinstance(o, str) and _canonical(o) == wanted]
        return options[0] if options else text
    return text


def _knows(value: Mapping[str, object], form: type[BaseModel]) -> bool:
    known = {_canonical(k) for n, f in form.model_fields.items() for k in keys_of(n, f)}
    return any(_canonical(key) in known for key in value)


def _target(name: str, field: FieldInfo, form: type[BaseModel]) -> str:
    populate = form.model_config.get("populate_by_name") or form.model_config.get(
        "validate_by_name"
    )
    return name if populate else keys_of(name, field)[0]


def _rejects_name(form: type[BaseModel]) -> str | None:
    return next((n for n, f in form.model_fields.items() if is_rejects(f)), None)


def _canonical(key: object) -> str:
    return re.sub(r"[\s_-]", "", str(key)).lower()


def _names(form: type[BaseModel]) -> str:
    return ", ".join(keys_of(n, f)[0] for n, f in form.model_fields.items() if not is_rejects(f))


def _explain(error: ValidationError) -> str:
    problems = [
        f"{'.'.join(str(part) for part in problem['loc']) or 'answer'}: {problem['msg']}"
        for problem in error.errors(include_url=False, include_input=False)[:_MAX_PROBLEMS]
    ]
    return "; ".join(problems)
