"""What settings there are, looked up by name, and one value checked at a time."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import SecretStr, ValidationError
from pydantic.fields import FieldInfo

from hindsight_core.config.settings import Section, Settings
from hindsight_core.config.settings.base import split_words

Kind = Literal["bool", "int", "float", "text", "names", "json"]
MASK = "********"
# Sections whose keys are the user's own names.
OPEN = ("agents", "prompts")
TOP = tuple(
    name
    for name, field in Settings.model_fields.items()
    if name not in OPEN and not isinstance(field.annotation, type(Section))
)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WORDS = {"true": True, "yes": True, "on": True, "1": True}
_WORDS |= {"false": False, "no": False, "off": False, "0": False, "": False}


@cache
def sections() -> Mapping[str, type[Section]]:
    """Section name -> its model."""
    return {
        name: field.annotation
        for name, field in Settings.model_fields.items()
        if isinstance(field.annotation, type(Section))
    }


@cache
def known_keys() -> tuple[str, ...]:
    """Every ``section.key`` that can be set, and the keys that stand outside of sections."""
    inner = [f"{name}.{key}" for name, model in sections().items() for key in model.model_fields]
    return (*TOP, *(key for key in inner if key != "plugins.sections"))


@cache
def default_section(name: str) -> Section:
    """The section with all defaults; shared, because sections are frozen."""
    return sections()[name].model_construct()


def default(path: str) -> object:
    """The default of a key."""
    section, _, key = path.rpartition(".")
    if section:
        return getattr(default_section(section), key)
    return Settings.model_fields[key].default


def field(path: str) -> FieldInfo:
    """The pydantic field of a key."""
    section, _, key = path.rpartition(".")
    return (sections()[section] if section else Settings).model_fields[key]


def snake(name: str) -> str:
    """The name in our style; camelCase is accepted everywhere."""
    return _HUMP.sub("_", name).replace("-", "_").lower()


def nearest(name: str, names: tuple[str, ...] | None = None) -> str | None:
    """The known name that looks most like an unknown one, if any does."""
    import difflib

    found = difflib.get_close_matches(name, names or known_keys(), n=1, cutoff=0.72)
    return found[0] if found else None


def is_secret(path: str) -> bool:
    """Whether the value must never be shown or written to a project file."""
    if path not in known_keys():
        key = path.rpartition(".")[2]
        return bool(re.search(r"token|secret|password|api_?key$", key, re.I)) and not re.search(
            r"_(env|file|ms)$|tokens", key, re.I
        )
    return SecretStr in _types(field(path).annotation)


def check(path: str, value: object) -> Any:  # noqa: ANN401 - whatever the setting holds
    """The value as the settings hold it.

    Raises:
        ValueError: It is not what this key takes; the message is what was expected.
    """
    section, _, key = path.rpartition(".")
    model = sections()[section] if section else Settings
    try:
        text = json.dumps({key: value}, ensure_ascii=True)
    except (TypeError, ValueError, RecursionError):
        raise ValueError("a plain value: text, number, true, false, list or table") from None
    try:
        return getattr(model.model_validate_json(text, strict=True), key)
    except ValidationError as error:
        raise ValueError(_expected(error)) from None


def check_items(path: str, value: object) -> tuple[Any, tuple[tuple[str, str], ...]]:
    """`check`, but a wrong item of a table is left out alone.

    Returns:
        The value, and for each item left out its path and what was expected.

    Raises:
        ValueError: As `check`.
    """
    try:
        return check(path, value), ()
    except ValueError:
        if not isinstance(value, dict) or kind(path) != "json":
            raise
    kept: dict[str, object] = {}
    wrong: list[tuple[str, str]] = []
    for name, item in value.items():
        try:
            check(path, {name: item})
        except ValueError as error:
            wrong.append((f"{path}.{name}", str(error)))
        else:
            kept[name] = item
    return check(path, kept), tuple(wrong)


def kind(path: str) -> Kind:
    """How a value of this key is written in the environment."""
    types = _types(field(path).annotation)
    if bool in types:
        return "bool"
    if int in types or float in types:
        return "int" if float not in types else "float"
    if tuple in types:
        args = get_args(_bare(field(path).annotation))
        return "names" if args and (args[0] is str or get_origin(args[0]) is Literal) else "json"
    return "text" if str in types or SecretStr in types or Literal in types else "json"


def parse_text(path: str, text: str) -> object:
    """A value written as text: in the environment or on the command line.

    Raises:
        ValueError: The message is what was expected.
    """
    shape, plain = kind(path), text.strip()
    if shape == "bool":
        if plain.lower() not in _WORDS:
            raise ValueError("true or false (1, yes, on, 0, no, off)")
        return _WORDS[plain.lower()]
    optional = type(None) in _types(field(path).annotation)
    if shape in ("int", "float"):
        if optional and plain.lower() in ("", "none", "null"):
            return None
        try:
            return int(plain) if shape == "int" else float(plain)
        except ValueError:
            raise ValueError("a whole number" if shape == "int" else "a number") from None
    if shape == "names" and not plain.startswith("["):
        if _is_command(path):
            return shlex.split(text)
        return [part.strip() for part in text.split(",") if part.strip()]
    if shape in ("names", "json"):
        try:
            return json.loads(plain or "null")
        except ValueError:
            raise ValueError("JSON") from None
    return text


def _is_command(path: str) -> bool:
    """Whether a bare text is a command line and no list of names."""
    return any(getattr(each, "func", None) is split_words for each in field(path).metadata)


def _bare(annotation: object) -> object:
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    return annotation


def _types(annotation: object) -> set[object]:
    annotation = _bare(annotation)
    origin = get_origin(annotation)
    if origin in (Union, UnionType):
        return {kind for part in get_args(annotation) for kind in _types(part)}
    return {origin if origin is not None else annotation}


def _expected(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    text = first["msg"].removeprefix("Value error, ")
    if first["type"] == "string_pattern_mismatch":
        text = "an http or https address" if "http" in text else "a text that is not blank"
    where = ".".join(str(part) for part in first["loc"][1:])
    text = text.removeprefix("Input should be ").removeprefix("Input should ")
    return f"{text} (at {where})" if where else text
