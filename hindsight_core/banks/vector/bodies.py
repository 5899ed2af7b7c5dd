"""Facts and documents as JSON, for payloads and side tables, without loss."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from hindsight_core.banks.records import exported, iso, read_record
from hindsight_core.memory import Document, Fact

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def fact_record(fact: Fact) -> dict[str, Any]:
    """A fact as a JSON object."""
    record = exported(fact)
    # An import line without provenance says "import"; a stored one says what it says.
    return {**record, "provenance": record.get("provenance", {})}


def fact_from(record: object) -> Fact:
    """The fact of `fact_record`.

    Raises:
        ValueError: It is none.
    """
    return read_record(record)


def moment(fact: Fact, *, now: datetime) -> int:
    """When a fact was said, else stored, in microseconds since 1970."""
    return micros(fact.timestamp or fact.created_at or now)


def micros(when: datetime) -> int:
    """Whole microseconds since 1970 in UTC."""
    return (when - _EPOCH) // _MICROSECOND


def document_body(document: Document, fact_ids: Sequence[str], *, stored: int) -> str:
    """A document without its facts, but with their ids and when it was stored."""
    data = {
        "text": document.text,
        "context": document.context,
        "tags": list(document.tags),
        "metadata": dict(document.metadata),
        "timestamp": iso(document.timestamp),
        "explicit": document.explicit,
        "facts": list(fact_ids),
        "stored": stored,
    }
    kept = {key: value for key, value in data.items() if value not in (None, [], {}, "")}
    return json.dumps(kept, ensure_ascii=False)


def document_from(document_id: str, body: str, facts: Sequence[Fact]) -> Document:
    """The document of `document_body` with its facts."""
    data = json.loads(body)
    said = data.get("timestamp")
    return Document(
        id=document_id,
        text=data.get("text") or "\n".join(f"- {fact.text}" for fact in facts),
        facts=tuple(facts),
        context=data.get("context"),
        tags=tuple(data.get("tags", ())),
        metadata=dict(data.get("metadata", {})),
        timestamp=datetime.fromisoformat(said) if said else None,
        explicit=bool(data.get("explicit")),
    )


def members_in(body: str) -> tuple[str, ...]:
    """Ids of the facts that a document's body names."""
    return tuple(json.loads(body).get("facts", ()))


def stored_in(body: str) -> int:
    """When a document was stored, in microseconds since 1970."""
    data: Mapping[str, Any] = json.loads(body)
    return int(data.get("stored", 0))
