"""Rows of the bank file to facts and documents, and back, without loss."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any, cast

from hindsight_core.identity import fact_id
from hindsight_core.memory import Document, Fact, FactState, Provenance

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
FACT_COLUMNS = (
    "id, text, kind, category, state, document_id, timestamp, created_at, tags, metadata,"
    " provenance, superseded_by, reason, pinned"
)
DOCUMENT_COLUMNS = "id, text, context, tags, metadata, timestamp, explicit"


def to_micros(moment: datetime | None) -> int | None:
    """Whole microseconds since 1970; a naive time is taken for UTC."""
    if moment is None:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - _EPOCH) // _MICROSECOND


def from_micros(value: int | None) -> datetime | None:
    """The aware UTC time of `to_micros`."""
    return None if value is None else _EPOCH + timedelta(microseconds=value)


def to_json(value: object) -> str:
    """Compact JSON with stable key order."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def content_of(text: str) -> str:
    """Identity of a sentence, whatever its fact's id is."""
    return fact_id(text)


def _mapping(text: str) -> Mapping[str, str]:
    return MappingProxyType(json.loads(text))


def provenance_json(provenance: Provenance) -> str:
    """Provenance as stored; fields at their default are left out."""
    data = {
        "source": provenance.source,
        "session_id": provenance.session_id,
        "entry_ids": list(provenance.entry_ids),
        "host": provenance.host,
        "speaker": provenance.speaker,
        "quote": provenance.quote,
        "branch": provenance.branch,
        "commit": provenance.commit,
        "files": [list(pair) for pair in provenance.files],
    }
    return to_json({key: value for key, value in data.items() if value})


def provenance_from(text: str) -> Provenance:
    """The value that `provenance_json` stored."""
    data = json.loads(text)
    return Provenance(
        source=data.get("source", "unknown"),
        session_id=data.get("session_id"),
        entry_ids=tuple(data.get("entry_ids", ())),
        host=data.get("host"),
        speaker=data.get("speaker"),
        quote=data.get("quote"),
        branch=data.get("branch"),
        commit=data.get("commit"),
        files=tuple((path, digest) for path, digest in data.get("files", ())),
    )


def fact_from(row: sqlite3.Row | tuple[Any, ...]) -> Fact:
    """A fact from a row that starts with `FACT_COLUMNS`."""
    return Fact(
        id=row[0],
        text=row[1],
        kind=row[2],
        category=row[3],
        state=cast("FactState", row[4]),
        document_id=row[5],
        timestamp=from_micros(row[6]),
        created_at=from_micros(row[7]),
        tags=tuple(json.loads(row[8])),
        metadata=_mapping(row[9]),
        provenance=provenance_from(row[10]),
        superseded_by=row[11],
        reason=row[12],
        pinned=bool(row[13]),
    )


def fact_values(fact: Fact, *, now: int) -> dict[str, Any]:
    """Column values of a fact; ``now`` dates what has no time of its own."""
    said, stored = to_micros(fact.timestamp), to_micros(fact.created_at)
    return {
        "id": fact.id,
        "content": content_of(fact.text),
        "text": fact.text,
        "kind": fact.kind,
        "category": fact.category,
        "state": fact.state,
        "document_id": fact.document_id,
        "timestamp": said,
        "created_at": stored,
        "moment": next(t for t in (said, stored, now) if t is not None),
        "tags": to_json(list(fact.tags)),
        "metadata": to_json(dict(fact.metadata)),
        "provenance": provenance_json(fact.provenance),
        "session_id": fact.provenance.session_id,
        "superseded_by": fact.superseded_by,
        "reason": fact.reason,
        "pinned": int(fact.pinned),
    }


def document_from(row: tuple[Any, ...], facts: tuple[Fact, ...]) -> Document:
    """A document from a row of `DOCUMENT_COLUMNS` and its facts in order."""
    text = row[1] or "\n".join(f"- {fact.text}" for fact in facts)
    return Document(
        id=row[0],
        text=text,
        facts=facts,
        context=row[2],
        tags=tuple(json.loads(row[3])),
        metadata=_mapping(row[4]),
        timestamp=from_micros(row[5]),
        explicit=bool(row[6]),
    )
