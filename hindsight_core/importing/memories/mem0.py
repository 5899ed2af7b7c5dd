"""An export of mem0: a JSON list of memories, an object that holds one, or one memory a line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hindsight_core.errors import ConfigError
from hindsight_core.memory import Fact, Provenance
from hindsight_core.transcript.shapes import read_time

SOURCE = "mem0"
MOST_BYTES = 512 * 1024 * 1024
_LISTS = ("results", "memories", "data")
_TEXTS = ("memory", "text", "content", "data")
_SCOPES = ("user_id", "agent_id", "app_id", "run_id")


def facts_of(path: Path) -> Iterator[Fact]:
    """The facts of an export, dated as it dates them.

    Raises:
        ConfigError: The file cannot be read, or holds no memories.
    """
    found = 0
    for record in _records(path):
        payload = record.get("payload")
        # A copy of its vector store has the memory one level deeper.
        inner: Mapping[str, Any] = payload if isinstance(payload, Mapping) else record
        text = next((t for key in _TEXTS if isinstance(t := inner.get(key), str) and t.strip()), "")
        if not text:
            continue
        found += 1
        metadata = inner.get("metadata")
        told = metadata if isinstance(metadata, Mapping) else {}
        labels = inner.get("categories")
        yield Fact(
            id="",
            text=text,
            timestamp=_when(inner),
            tags=tuple(c for c in labels if isinstance(c, str)) if isinstance(labels, list) else (),
            metadata={
                **{key: str(value) for key, value in told.items() if _is_plain(value)},
                **{key: v for key in _SCOPES if isinstance(v := inner.get(key), str) and v},
            },
            provenance=Provenance(source=SOURCE),
        )
    if not found:
        raise ConfigError(f"{path} holds no memories in a form that is known of mem0")


def _records(path: Path) -> Iterator[Mapping[str, Any]]:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ConfigError(f"{path} is larger than {MOST_BYTES // 1024**2} MB: split it")
        text = path.read_text("utf-8", "replace")
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}") from error
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = _lines(text)
    if isinstance(value, dict):
        value = next((v for key in _LISTS if isinstance(v := value.get(key), list)), [value])
    yield from (item for item in value if isinstance(item, dict)) if isinstance(value, list) else ()


def _lines(text: str) -> list[object]:
    found: list[object] = []
    for line in text.splitlines():
        try:
            found.append(json.loads(line))
        except (ValueError, RecursionError):
            continue
    return found


def _when(record: Mapping[str, Any]) -> Any:  # noqa: ANN401 - a moment or None
    return read_time(record.get("updated_at")) or read_time(record.get("created_at"))


def _is_plain(value: object) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)
