"""Facts as JSON records: the lines of an export, and what listings print."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, cast, get_args

from hindsight_core.identity import fact_id
from hindsight_core.memory import Fact, FactState, Provenance

_NAMED = {
    "id", "text", "kind", "category", "state", "document", "document_id", "timestamp",
    "created_at", "tags", "metadata", "provenance", "superseded_by", "reason", "pinned", "bank",
    "record", "version",
}  # fmt: skip


def listed(fact: Fact, *, bank: str) -> dict[str, Any]:
    """One row of ``facts list --json``."""
    return {
        "id": f"{bank}:{fact.id}",
        "text": fact.text,
        "kind": fact.kind,
        "category": fact.category,
        "state": fact.state,
        "bank": bank,
        "document": fact.document_id,
        "timestamp": iso(fact.timestamp),
        "tags": list(fact.tags),
        "metadata": dict(fact.metadata),
    }


def exported(fact: Fact) -> dict[str, Any]:
    """One line of an export: everything, what is not set left out."""
    told = fact.provenance
    provenance = {
        "source": told.source if told.source != "unknown" else None,
        "session_id": told.session_id,
        "entry_ids": list(told.entry_ids),
        "host": told.host,
        "speaker": told.speaker,
        "quote": told.quote,
        "branch": told.branch,
        "commit": told.commit,
        "files": dict(told.files),
    }
    record = {
        "id": fact.id,
        "text": fact.text,
        "kind": fact.kind,
        "category": fact.category,
        "state": fact.state,
        "document": fact.document_id,
        "timestamp": iso(fact.timestamp),
        "created_at": iso(fact.created_at),
        "tags": list(fact.tags),
        "metadata": dict(fact.metadata),
        "provenance": {key: value for key, value in provenance.items() if value},
        "superseded_by": fact.superseded_by,
        "reason": fact.reason,
        "pinned": fact.pinned or None,
    }
    return {key: value for key, value in record.items() if value not in (None, [], {})}


def read_record(record: object) -> Fact:
    """The fact of one import line; only ``text`` is required.

    A line with ``superseded_by`` and no state is superseded. Fields that are not ours are kept
    as metadata when they are texts.

    Raises:
        ValueError: What is wrong with the line, for a person.
    """
    if not isinstance(record, Mapping):
        raise ValueError("not a JSON object")
    text = read_text(record, "text")
    if not text or not text.strip():
        raise ValueError("no text")
    superseded_by = read_text(record, "superseded_by")
    state = read_text(record, "state") or ("superseded" if superseded_by else "valid")
    if state not in get_args(FactState):
        raise ValueError(f"state {state!r} is none of {', '.join(get_args(FactState))}")
    return Fact(
        id=read_text(record, "id") or fact_id(text),
        text=text,
        kind=read_text(record, "kind") or "fact",
        category=read_text(record, "category"),
        state=cast("FactState", state),
        document_id=read_text(record, "document") or read_text(record, "document_id"),
        timestamp=read_moment(record, "timestamp"),
        created_at=read_moment(record, "created_at"),
        tags=read_texts(record, "tags"),
        metadata=_metadata(record),
        provenance=_provenance(record.get("provenance")),
        superseded_by=superseded_by,
        reason=read_text(record, "reason"),
        pinned=bool(record.get("pinned")),
    )


def iso(moment: datetime | None) -> str | None:
    """ISO 8601 in UTC."""
    return None if moment is None else moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def read_text(record: Mapping[str, Any], key: str) -> str | None:
    """A text of a record, None for a blank one; raises `ValueError` for anything else."""
    value = record.get(key)
    if value is None or isinstance(value, str):
        return value or None
    if key == "id" and isinstance(value, int):
        return str(value)
    raise ValueError(f"{key} is not a text")


def read_texts(record: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """A list of texts of a record, each once; raises `ValueError` for anything else."""
    value = record.get(key)
    value = [] if value is None else value
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"{key} is not a list of texts")
    return tuple(dict.fromkeys(value))


def read_moment(record: Mapping[str, Any], key: str) -> datetime | None:
    """A time of a record in UTC; raises `ValueError` for what is none."""
    value = read_text(record, key)
    if value is None:
        return None
    try:
        found = datetime.fromisoformat(value.strip())
    except ValueError:
        raise ValueError(f"{key} {value!r} is no ISO 8601 time") from None
    try:
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except OverflowError:  # at the edge of the calendar
        raise ValueError(f"{key} {value!r} is out of range") from None


def read_metadata(given: object) -> dict[str, str]:
    """Metadata as texts; raises `ValueError` where it is no object."""
    given = {} if given is None else given
    if not isinstance(given, Mapping):
        raise ValueError("metadata is not an object")
    return {str(k): v if isinstance(v, str) else str(v) for k, v in given.items()}


def _metadata(record: Mapping[str, Any]) -> dict[str, str]:
    extra = {k: v for k, v in record.items() if k not in _NAMED and isinstance(v, str)}
    return {**extra, **read_metadata(record.get("metadata"))}


def _provenance(value: object) -> Provenance:
    if value is None:
        return Provenance(source="import")
    if not isinstance(value, Mapping):
        raise ValueError("provenance is not an object")
    return Provenance(
        source=read_text(value, "source") or "unknown",
        session_id=read_text(value, "session_id"),
        entry_ids=read_texts(value, "entry_ids"),
        host=read_text(value, "host"),
        speaker=read_text(value, "speaker"),
        quote=read_text(value, "quote"),
        branch=read_text(value, "branch"),
        commit=read_text(value, "commit"),
        files=tuple(read_metadata(value.get("files")).items()),
    )
