"""Facts and records as Qdrant points, and back.

A payload has the whole fact under ``fact``; the fields beside it are what filters need. Ids are
UUID5 of the bank and of what the point holds, so that writing it again writes the same point.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from hindsight_core.banks.vector import bodies
from hindsight_core.banks.vector.shared import Record
from hindsight_core.errors import BankError
from hindsight_core.memory import Fact

Point = dict[str, Any]
NAMESPACE = uuid.UUID("6f1f7a0e-6f0f-5f4e-9a55-6d0e5a9f3c21")
INDEXES: Mapping[str, str] = {
    "bank": "keyword",
    "type": "keyword",
    "state": "keyword",
    "kind": "keyword",
    "tags": "keyword",
    "tag_count": "integer",
    "moment": "integer",
    "document": "keyword",
    "session": "keyword",
}
"""Fields that the server indexes."""


def point_id(bank: str, kind: str, key: str) -> str:
    """Id of the point for a fact or a record."""
    return str(uuid.uuid5(NAMESPACE, json.dumps([bank, kind, key])))


def fact_payload(fact: Fact, *, bank: str, now: datetime) -> dict[str, Any]:
    """Payload of a fact's point."""
    metadata = json.dumps(dict(fact.metadata), ensure_ascii=False, sort_keys=True)
    return {
        "bank": bank,
        "type": "fact",
        "state": fact.state,
        "kind": fact.kind,
        "tags": list(fact.tags),
        "tag_count": len(set(fact.tags)),
        "moment": bodies.moment(fact, now=now),
        "document": fact.document_id,
        "session": fact.provenance.session_id,
        "mentions": f"{fact.text}\n{metadata}".lower(),
        "fact": bodies.fact_record(fact),
    }


def fact_in(point: Mapping[str, Any]) -> Fact:
    """The fact of a point.

    Raises:
        BankError: The point is not one of ours.
    """
    try:
        return bodies.fact_from(point["payload"]["fact"])
    except (KeyError, TypeError, ValueError) as error:
        raise BankError(
            f"point {point.get('id')} holds no fact ({error}). Is qdrant.collection one that "
            "another program writes?",
            retryable=False,
        ) from error


def record_point(record: Record, *, bank: str, dimensions: int) -> Point:
    """The point of a record; its vector means nothing, and no search sees it."""
    payload = {"bank": bank, "type": record.kind, "key": record.key, "body": record.body}
    return bare_point(point_id(bank, record.kind, record.key), payload, dimensions=dimensions)


def bare_point(identity: str, payload: Mapping[str, Any], *, dimensions: int) -> Point:
    """A point without a meaning of its own."""
    return {"id": identity, "vector": empty_vector(dimensions), "payload": dict(payload)}


def record_in(point: Mapping[str, Any]) -> Record:
    """The record of a point."""
    payload = point["payload"]
    return Record(payload["type"], str(payload["key"]), str(payload["body"]))


def empty_vector(dimensions: int) -> Sequence[float]:
    """A vector for a point that needs none; not zero, which has no direction."""
    return [1.0, *([0.0] * (dimensions - 1))]
