"""Every setting as rows of a Markdown table: ``python -m hindsight_core.config.docs``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Literal, get_args, get_origin

from pydantic import SecretStr

from hindsight_core.config import schema
from hindsight_core.config.legacy import TABLE
from hindsight_core.config.show import shown

HEAD = ("| key | type | default | |", "|---|---|---|---|")
OLD_HEAD = ("| plugin | key | environment | now |", "|---|---|---|---|")
_KINDS = {"bool": "true / false", "int": "whole number", "float": "number"}
_KINDS |= {"text": "text", "names": "list", "json": "table"}


def setting_rows() -> Iterator[str]:
    """One row a setting: key, type, default, description."""
    for path in schema.known_keys():
        text = schema.field(path).description or ""
        default = json.dumps(shown(path, schema.default(path)), ensure_ascii=False)
        yield f"| `{path}` | {_type(path)} | `{_cell(default)}` | {_cell(text)} |"


def legacy_rows() -> Iterator[str]:
    """One row for each key of the four plugins that has another name here, or none."""
    for plugin, rows in TABLE.items():
        for row in rows:
            now = f"`{row.new}`" if row.new else _cell(row.advice or "")
            name = f"`{row.env}`" if row.env else ""
            yield f"| {plugin} | `{row.key}` | {name} | {now} |"


def _type(path: str) -> str:
    words = _choices(schema.field(path).annotation)
    if words:
        return " / ".join(f"`{word}`" for word in words)
    if schema.is_secret(path):
        return "secret"
    kind = schema.kind(path)
    return "list" if kind == "json" and isinstance(schema.default(path), tuple) else _KINDS[kind]


def _choices(annotation: object) -> tuple[str, ...]:
    if get_origin(annotation) is Literal:
        return tuple(str(word) for word in get_args(annotation))
    parts = [part for part in get_args(annotation) if part not in (type(None), SecretStr)]
    return _choices(parts[0]) if len(parts) == 1 and get_origin(parts[0]) is Literal else ()


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    print(*HEAD, *setting_rows(), "", *OLD_HEAD, *legacy_rows(), sep="\n")
