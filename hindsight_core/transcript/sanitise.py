"""The one boundary that every text crosses: before a model, disk or upload, and at recall."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from hindsight_core.identity import digest_id
from hindsight_core.transcript.blocks import is_continuation, neutralise, strip_blocks
from hindsight_core.transcript.characters import clip, cut, drop_encoded, repair
from hindsight_core.transcript.entry import (
    Entry,
    Image,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from hindsight_core.transcript.private import without_private

if TYPE_CHECKING:
    from hindsight_core.memory import Document, Fact, Provenance
    from hindsight_core.redact import Redactor

TEXT_LIMIT = 32_000
RESULT_LIMIT = 16_000
ARGUMENT_LIMIT = 4_000
NAME_LIMIT = 200
FACT_LIMIT = 1_200
DOCUMENT_LIMIT = 1_000_000
_CACHED = 8_192
_ITEMS = 100
_DEPTH = 8
_SPACE = re.compile(r"\s+")
_HEX = re.compile(r"[0-9a-f]{1,64}\Z")


class Sanitiser:
    """Strips blocks, host records and private sections, redacts secrets, repairs, bounds sizes.

    Everything here is idempotent and linear in the size of its input.

    Args:
        redactor: Removes secrets; None only where the user has switched that off.
    """

    def __init__(self, redactor: Redactor | None = None) -> None:
        self._redactor = redactor
        self._cache: OrderedDict[str, tuple[Entry, Entry | None]] = OrderedDict()
        self._ids: dict[str, str] = {}

    def text(self, text: str, *, limit: int | None = None) -> str:
        """A message's text: blocks stripped, secrets redacted, characters repaired, bounded.

        Args:
            text: As the host gave it.
            limit: Largest length of the result in characters; TEXT_LIMIT by default.
        """
        bound = TEXT_LIMIT if limit is None else limit
        text = drop_encoded(strip_blocks(without_private(repair(text))).strip())
        whole = len(text)
        # Secrets are looked for in more than what stays, so that none is cut in half.
        text = self.redact(cut(text, 4 * bound + 4_000))
        return cut(text, bound, of=whole).strip()

    def fact_text(self, text: str, *, limit: int = FACT_LIMIT) -> str:
        """One safe line of a fact: nothing in it opens or closes a block, no words are lost."""
        text = cut(without_private(repair(text)), 4 * limit + 4_000)
        line = self.redact(neutralise(_SPACE.sub(" ", text)))
        return clip(line.strip(), limit)

    def redact(self, text: str) -> str:
        """Text without secrets (unchanged where redaction is off)."""
        return self._redactor.redact(text) if self._redactor else text

    def entries(self, entries: Iterable[Entry]) -> tuple[Entry, ...]:
        """Every entry sanitised, in order; what is left empty is dropped."""
        return tuple(clean for entry in entries if (clean := self.entry(entry)) is not None)

    def entry(self, entry: Entry) -> Entry | None:
        """One entry sanitised, or None when nothing of the conversation is in it.

        Host records, system prompts and synthetic messages are nobody's words; of a compaction
        only the mark stays (pi/X-01, br/BR-20, br/BR-38). Cached by entry id.
        """
        known = self._cache.get(entry.id)
        # The same id with other content is another session, or an edited message.
        if known is not None and (known[0] is entry or known[0] == entry):
            self._cache.move_to_end(entry.id)
            return known[1]
        clean = self._clean(self.identified(entry))
        self._cache[entry.id] = (entry, clean)
        if len(self._cache) > _CACHED:
            self._cache.popitem(last=False)
        return clean

    def identified(self, entry: Entry) -> Entry:
        """The entry with ids that may be written anywhere; itself where they were so already."""
        own, parent = self.entry_id(entry.id), entry.parent_id and self.entry_id(entry.parent_id)
        kept = entry.kept and self.entry_id(entry.kept)
        same = (own, parent, kept) == (entry.id, entry.parent_id, entry.kept)
        return entry if same else replace(entry, id=own, parent_id=parent, kept=kept)

    def entry_id(self, given: str) -> str:
        """A host's id, or a digest of it where it is a secret, a text or hardly printable.

        The same id has the same digest, so that cursors and parents still find it.
        """
        known = self._ids.get(given)
        if known is None:
            fine = len(given) <= NAME_LIMIT and given.isprintable() and self.redact(given) == given
            known = given if fine else digest_id(given)
            if len(self._ids) >= _CACHED:
                self._ids.clear()
            self._ids[given] = known
        return known

    def value(self, value: object, *, name: str = "") -> object:
        """A JSON value sanitised to the depth; `name` is the key that it stands under."""
        return self._value(value, name, _DEPTH)

    def metadata(self, metadata: Mapping[str, str]) -> dict[str, str]:
        """Metadata with clean keys and values; the same rules as for text (br/BR-07, br/BR-46)."""
        pairs = ((self.label(k), self._named(k, str(v))) for k, v in metadata.items())
        return {key: value for key, value in pairs if key}

    def tags(self, tags: Iterable[str]) -> tuple[str, ...]:
        """Clean tags, without empty or doubled ones, in order."""
        return tuple(dict.fromkeys(tag for raw in tags if (tag := self.label(raw))))

    def label(self, text: str) -> str:
        """A short one-line name: a tag, a key, a tool."""
        return self.fact_text(text, limit=NAME_LIMIT)

    def fact(self, fact: Fact, *, limit: int = FACT_LIMIT) -> Fact:
        """A fact with every text in it sanitised, its names and where it comes from as well."""
        return replace(
            fact,
            id=self.entry_id(fact.id),
            document_id=self._name(fact.document_id),
            superseded_by=self._name(fact.superseded_by),
            text=self.fact_text(fact.text, limit=limit),
            kind=self.label(fact.kind),
            category=None if fact.category is None else self.label(fact.category),
            tags=self.tags(fact.tags),
            metadata=self.metadata(fact.metadata),
            provenance=self._provenance(fact.provenance, limit=limit),
            reason=None if fact.reason is None else self.fact_text(fact.reason, limit=limit),
        )

    def _provenance(self, origin: Provenance, *, limit: int) -> Provenance:
        return replace(
            origin,
            source=self.label(origin.source),
            session_id=self._name(origin.session_id),
            entry_ids=tuple(map(self.entry_id, origin.entry_ids)),
            host=None if origin.host is None else self.label(origin.host),
            speaker=None if origin.speaker is None else self.label(origin.speaker),
            quote=None if origin.quote is None else self.fact_text(origin.quote, limit=limit),
            branch=None if origin.branch is None else self.label(origin.branch),
            commit=origin.commit if _HEX.match(origin.commit or "") else None,
            files=tuple((self.label(p), d) for p, d in origin.files if _HEX.match(d)),
        )

    def _name(self, given: str | None) -> str | None:
        return None if given is None else self.entry_id(given)

    def document(self, document: Document, *, limit: int = FACT_LIMIT) -> Document:
        """A document with text, facts, context, tags and metadata sanitised."""
        facts, context = document.facts, document.context
        return replace(
            document,
            text=self.text(document.text, limit=DOCUMENT_LIMIT),
            facts=None if facts is None else tuple(self.fact(f, limit=limit) for f in facts),
            context=None if context is None else self.text(context),
            tags=self.tags(document.tags),
            metadata=self.metadata(document.metadata),
            entities=self.tags(document.entities),
            observation_scopes=tuple(map(self.tags, document.observation_scopes)),
        )

    def _clean(self, entry: Entry) -> Entry | None:
        text = next((p.text for p in entry.parts if isinstance(p, Text)), "")
        continued = entry.role == "user" and is_continuation(text)
        if entry.compaction or continued:
            bare = replace(entry, role="host", parts=(), record=None)
            return replace(bare, synthetic=True, compaction=True)
        if entry.synthetic or entry.role in ("host", "system"):
            return None
        parts = tuple(clean for part in entry.parts if (clean := self._part(part)) is not None)
        if all(isinstance(part, Image) for part in parts):
            return None
        # Some hosts send tool results in the user's name (br/BR-68).
        only_results = all(isinstance(part, ToolResult | Image) for part in parts)
        role: Role = "tool" if only_results else entry.role
        return replace(entry, role=role, parts=parts, record=None)

    def _part(self, part: Part) -> Part | None:
        match part:
            case Text():
                text = self.text(part.text)
                return Text(text) if text else None
            case Thinking():
                text = self.text(part.text, limit=RESULT_LIMIT)
                return Thinking(text) if text else None
            case ToolCall():
                arguments = self._mapping(part.arguments, _DEPTH)
                name, call = self.label(part.name), self.entry_id(part.id)
                return replace(part, id=call, name=name, arguments=arguments)
            case ToolResult():
                text = self.text(part.text, limit=RESULT_LIMIT)
                name, call = self.label(part.name), self.entry_id(part.tool_call_id)
                return replace(part, tool_call_id=call, name=name, text=text)
            case Image():
                return part

    def _value(self, value: object, name: str, depth: int) -> object:
        match value:
            case None | bool() | int() | float():
                return value
            case str():
                return self._named(name, value)
            case Mapping() if depth:
                return self._mapping(value, depth)
            case list() | tuple() if depth:
                items = list(islice(value, _ITEMS))
                # In an argument vector the name of a value is the option before it.
                names = [name, *(str(item) if _is_option(item) else name for item in items)]
                return [self._value(v, n, depth - 1) for v, n in zip(items, names, strict=False)]
            case _:
                return self._named(name, str(value) if depth else "…")

    def _mapping(self, value: Mapping[Any, Any], depth: int) -> dict[str, object]:
        items = islice(value.items(), _ITEMS)
        return {self.label(str(k)): self._value(v, str(k), depth - 1) for k, v in items}

    def _named(self, name: str, value: str) -> str:
        text = self.text(value, limit=ARGUMENT_LIMIT)
        return self._redactor.named(name, text) if self._redactor and name else text


def _is_option(item: object) -> bool:
    return isinstance(item, str) and item.startswith("-") and len(item) < 60
