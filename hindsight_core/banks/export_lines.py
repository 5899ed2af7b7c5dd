"""The lines of an export: facts, then documents, then identities of deleted sentences.

Every line stands for itself, so that a file may be cut, joined and filtered; each says the version
of the form. Nothing in it depends on when or where it was written: exporting an imported bank
gives the same file.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hindsight_core.banks.base import CopyingBank
from hindsight_core.banks.records import (
    exported,
    iso,
    read_metadata,
    read_moment,
    read_record,
    read_text,
    read_texts,
)
from hindsight_core.memory import Document, DocumentCopy

if TYPE_CHECKING:
    from hindsight_core.banks.base import Bank
    from hindsight_core.memory import Fact

VERSION = 1
"""Of the form; a reader refuses a higher one."""


class NewerVersion(ValueError):
    """A line that a newer version of this program has written."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """Identity of a sentence that was deleted for good; its words are nowhere."""

    content: str


@dataclass(frozen=True, slots=True)
class Aside:
    """A line about something that no bank holds, such as how a fact stands.

    Attributes:
        kind: Its ``record``.
        body: The whole line.
    """

    kind: str
    body: Mapping[str, Any]


async def export_lines(bank: Bank) -> AsyncIterator[str]:
    """Everything that a bank holds, a JSON object a line."""
    told: dict[str, list[str]] = {}
    async for fact in bank.export_facts():
        if fact.document_id is not None:
            told.setdefault(fact.document_id, []).append(fact.id)
        # A line without provenance comes from elsewhere; ours says that nothing is known.
        yield export_line({"provenance": {}, **exported(fact)})
    if not isinstance(bank, CopyingBank):
        return
    async for copy in bank.export_documents():
        if not _implied(copy, told.get(copy.document.id, [])):
            yield export_line(_document(copy))
    for content in sorted(await bank.forgotten()):
        yield export_line({"record": "forgotten", "content": content})


def read_line(line: str) -> Fact | DocumentCopy | Forgotten | Aside:
    """What one line holds; a line without ``record`` is a fact, and needs a ``text`` only.

    Raises:
        NewerVersion: The line is of a version that is not known here.
        ValueError: What is wrong with the line, for a person.
    """
    try:
        record = json.loads(line)
    except RecursionError:
        raise ValueError("not JSON: nested too deeply") from None
    if not isinstance(record, Mapping):
        raise ValueError("not a JSON object")
    version = record.get("version")
    if isinstance(version, int) and version > VERSION:
        raise NewerVersion(
            f"written by a newer version of hindsight-mem (form {version}, this one reads up to "
            f"{VERSION}); update hindsight-mem and import it again"
        )
    match record.get("record"):
        case None | "fact":
            return read_record(record)
        case "document":
            return _read_document(record)
        case "forgotten":
            return Forgotten(_required(record, "content"))
        case str(other):
            return Aside(other, record)
        case other:
            raise ValueError(f"record {other!r} is no name")


def export_line(record: Mapping[str, Any]) -> str:
    """A record as a line, without its end."""
    return json.dumps({**record, "version": VERSION}, ensure_ascii=False)


def _implied(copy: DocumentCopy, told: list[str]) -> bool:
    """Whether a document is nothing but the facts that name it, in their order."""
    return list(copy.fact_ids) == told and copy.document == Document(copy.document.id, "")


def _document(copy: DocumentCopy) -> dict[str, Any]:
    document = copy.document
    record = {
        "record": "document",
        "id": document.id,
        "text": document.text or None,
        "context": document.context,
        "tags": list(document.tags),
        "metadata": dict(document.metadata),
        "timestamp": iso(document.timestamp),
        "created_at": iso(copy.created_at),
        "explicit": document.explicit or None,
        "facts": list(copy.fact_ids),
    }
    return {key: value for key, value in record.items() if value not in (None, [], {})}


def _read_document(record: Mapping[str, Any]) -> DocumentCopy:
    document = Document(
        id=_required(record, "id"),
        text=read_text(record, "text") or "",
        context=read_text(record, "context"),
        tags=read_texts(record, "tags"),
        metadata=read_metadata(record.get("metadata")),
        timestamp=read_moment(record, "timestamp"),
        explicit=record.get("explicit") is True,
    )
    return DocumentCopy(document, read_texts(record, "facts"), read_moment(record, "created_at"))


def _required(record: Mapping[str, Any], key: str) -> str:
    value = read_text(record, key)
    if value is None:
        raise ValueError(f"no {key}")
    return value
