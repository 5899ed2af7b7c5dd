"""Documents as versioned JSON text: what goes in comes out exactly, whatever characters it has.

The text is pure ASCII (everything else is escaped), so that NUL bytes and lone surrogates can
neither be refused by SQLite nor break the row for ever (br/BR-46).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from types import MappingProxyType
from typing import Any

from hindsight_core.memory import Document, Fact, Provenance

VERSION = 1
_LATER = frozenset({"append", "entities", "observation_scopes"})
_WHERE = frozenset({"branch", "commit", "files"})


def encode_document(document: Document) -> str:
    """A document as one line of JSON."""
    return _dump({"v": VERSION, "document": _document(document)})


def decode_document(text: str) -> Document:
    """The document that `encode_document` wrote.

    Raises:
        ValueError: Not such a text, or of a version that this program does not know.
    """
    try:
        record = json.loads(text)
        if record["v"] != VERSION:
            raise ValueError(f"unknown record version {record['v']!r}")
        return _read_document(record["document"])
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"not a document record: {error!r}") from error


def content_hash(document: Document) -> str:
    """Hash of everything in a document but when a bank stored its facts, and on which commit."""
    record = _document(document)
    for fact in record["facts"] or ():
        fact["created_at"] = None
        for name in _WHERE:
            fact["provenance"].pop(name, None)
    return hashlib.sha256(_dump(record).encode()).hexdigest()


def _dump(record: Mapping[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=True, sort_keys=True, separators=(",", ":"))


def _plain(value: object) -> Any:  # noqa: ANN401 - JSON values
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return dict(value)
    return value


def _flat(item: Document | Fact | Provenance, *, leave: tuple[str, ...] = ()) -> dict[str, Any]:
    names = (f.name for f in fields(item) if f.name not in leave)
    return {name: _plain(getattr(item, name)) for name in names}


def _fact(fact: Fact) -> dict[str, Any]:
    origin = _flat(fact.provenance)
    origin = {name: value for name, value in origin.items() if value or name not in _WHERE}
    return _flat(fact, leave=("provenance",)) | {"provenance": origin}


def _document(document: Document) -> dict[str, Any]:
    facts = None if document.facts is None else [_fact(f) for f in document.facts]
    record = _flat(document, leave=("facts",)) | {"facts": facts}
    # Left out where they say nothing: what was written and hashed before they existed is the same.
    return {k: v for k, v in record.items() if v or k not in _LATER}


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _read_fact(record: Mapping[str, Any]) -> Fact:
    values = dict(record)
    origin = dict(values.pop("provenance"))
    origin["entry_ids"] = tuple(origin["entry_ids"])
    origin["files"] = tuple((path, digest) for path, digest in origin.get("files", ()))
    for name in ("timestamp", "created_at"):
        values[name] = _moment(values[name])
    values["tags"] = tuple(values["tags"])
    values["metadata"] = MappingProxyType(dict(values["metadata"]))
    return Fact(**values, provenance=Provenance(**origin))


def _read_document(record: Mapping[str, Any]) -> Document:
    values = dict(record)
    if values["facts"] is not None:
        values["facts"] = tuple(_read_fact(f) for f in values["facts"])
    values["supersedes"] = tuple((new, old) for new, old in values["supersedes"])
    values["tags"] = tuple(values["tags"])
    values["entities"] = tuple(values.get("entities", ()))
    values["observation_scopes"] = tuple(map(tuple, values.get("observation_scopes", ())))
    values["metadata"] = MappingProxyType(dict(values["metadata"]))
    values["timestamp"] = _moment(values["timestamp"])
    document = Document(**values)
    if not isinstance(document.id, str) or not isinstance(document.text, str):
        raise ValueError("not a document record: id and text must be strings")
    return document
