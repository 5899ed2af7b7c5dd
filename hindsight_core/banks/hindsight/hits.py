"""What a server returns as facts: tolerant of every shape that versions have used (pi/H-20)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from hindsight_core.banks.hindsight.states import read_state
from hindsight_core.banks.records import exported, read_record
from hindsight_core.memory import Fact, Provenance

RECORD = "hindsight_mem"
"""Metadata key under which a fact that we stored keeps what the server has no field for."""

STORED = "hindsight_mem_stored"
"""Metadata key with the order in which facts of ours were stored."""

TYPES = ("world", "experience", "observation")
KINDS = frozenset({"decision", "constraint", "knowhow", "pitfall"})
_LISTS = ("memories", "results", "items", "hits")
_IN_RECORD_NOT = ("text", "state", "reason", "superseded_by", "pinned")


@dataclass(frozen=True, slots=True)
class Found:
    """One item of an answer.

    Attributes:
        text: Never blank.
        raw: The item as it came; empty for a bare text.
    """

    text: str
    raw: Mapping[str, Any]

    @property
    def id(self) -> str | None:
        """The server's id, where it is a text."""
        return _text(self.raw.get("id"))

    @property
    def type(self) -> str | None:
        """``world``, ``experience`` or ``observation`` (pi/H-21)."""
        return _text(self.raw.get("type")) or _text(self.raw.get("fact_type"))


def found_in(answer: object) -> list[Found]:
    """The items of an answer, in order; items without a text are dropped (pi/H-20)."""
    if isinstance(answer, str):
        return [Found(answer, {})] if answer.strip() else []
    if isinstance(answer, list):
        return [found for item in answer if (found := _item(item))]
    if not isinstance(answer, Mapping):
        return []
    for key in _LISTS:
        if isinstance(answer.get(key), list):
            return [found for item in answer[key] if (found := _item(item))]
    return found_in(answer_text(answer))


def answer_text(answer: Mapping[str, Any]) -> str:
    """The text of a composed answer, under either of its names (pi/H-07)."""
    return _text(answer.get("text")) or _text(answer.get("answer")) or ""


def fact_of(found: Found) -> Fact:
    """The fact: whole where we stored it ourselves, else what the server knows of it."""
    raw = found.raw
    metadata = _metadata(raw.get("metadata"))
    fact = _ours(found.text, metadata.pop(RECORD, None))
    tags = _tags(raw.get("tags"))
    if fact is None:
        fact = Fact(
            id=found.id or "",
            text=found.text,
            kind=_kind(found.type, tags),
            document_id=_text(raw.get("document_id")),
            timestamp=moment(raw.get("mentioned_at")) or moment(raw.get("occurred_start")),
            tags=tags,
            metadata=metadata,
            provenance=Provenance(
                source=metadata.get("source", "unknown"), session_id=metadata.get("session")
            ),
        )
    state, reason, by = read_state(dict(raw))
    same = set(tags) == set(fact.tags)
    return replace(
        fact,
        state=state,
        reason=reason,
        superseded_by=by,
        tags=fact.tags if same or "tags" not in raw else tags,
    )


def record_of(fact: Fact) -> str:
    """What `fact_of` reads back; the text, the state and the pin have a place of their own."""
    kept = {k: v for k, v in exported(fact).items() if k not in _IN_RECORD_NOT}
    kept.setdefault("provenance", {"source": "unknown"})
    return json.dumps(kept, ensure_ascii=False)


def moment(value: object) -> datetime | None:
    """A time of the server, aware; None when there is none or it cannot be read."""
    if not isinstance(value, str):
        return None
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)


def _item(item: object) -> Found | None:
    if isinstance(item, str):
        return Found(item, {}) if item.strip() else None
    if not isinstance(item, Mapping):
        return None
    named = (item[key] for key in ("content", "text", "memory") if item.get(key) is not None)
    text = _text(next(named, None))
    return Found(text, item) if text else None


def _ours(text: str, record: str | None) -> Fact | None:
    try:
        data = json.loads(record or "null")
        return read_record({**data, "text": text}) if isinstance(data, dict) else None
    except (ValueError, TypeError):
        return None


def _kind(type_: str | None, tags: tuple[str, ...]) -> str:
    if type_ == "observation":
        return type_
    # What an agent went through is no fact about anything else; a tag says more.
    other = "experience" if type_ == "experience" else "fact"
    return next((tag for tag in tags if tag in KINDS), other)


def _metadata(value: object) -> dict[str, str]:
    if not isinstance(value, Mapping):
        return {}
    return {str(k): v if isinstance(v, str) else str(v) for k, v in value.items()}


def _tags(value: object) -> tuple[str, ...]:
    return tuple(t for t in value if isinstance(t, str)) if isinstance(value, list) else ()


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None
