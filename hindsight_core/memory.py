"""What a bank holds and what a search gives back: values without behaviour."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Literal

FactState = Literal["valid", "superseded", "invalidated", "pending"]
TagMatch = Literal["any", "all", "any_strict", "all_strict", "exact"]
NO_METADATA: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a fact comes from, so that a person can check it.

    Attributes:
        source: Which path stored it: ``session-note``, ``agent-note``, ``user-rule`` ...
        session_id: The session it was said in, when known.
        entry_ids: Ids of the transcript entries that support it.
        host: The agent program, such as ``pi``.
        speaker: Whose words it is: ``user``, ``assistant`` or None when unknown.
        quote: The supporting words, when they were kept.
        branch: The git branch it was said on, when known.
        commit: The commit then checked out, when known.
        files: Files that it names, as pairs of path (from the checkout) and digest of the content.
    """

    source: str = "unknown"
    session_id: str | None = None
    entry_ids: tuple[str, ...] = ()
    host: str | None = None
    speaker: str | None = None
    quote: str | None = None
    branch: str | None = None
    commit: str | None = None
    files: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Fact:
    """One remembered sentence.

    Attributes:
        id: Unique in its bank; every surface shows it as ``bank:id``.
        text: The fact itself, one line, sanitised.
        kind: ``fact``, ``decision``, ``constraint``, ``knowhow``, ``pitfall`` or a plugin's own.
        category: Key of the category it was extracted under (pi/K-01), if any.
        state: Only ``valid`` facts are recalled.
        document_id: The document it belongs to.
        timestamp: When it was said or became true (UTC, aware); None when unknown.
        created_at: When this bank stored it (UTC, aware).
        superseded_by: Id of the fact that replaced it, for state ``superseded``.
        reason: Why it is invalidated, for a person to read.
        pinned: Never retired automatically.
    """

    id: str
    text: str
    kind: str = "fact"
    category: str | None = None
    state: FactState = "valid"
    document_id: str | None = None
    timestamp: datetime | None = None
    created_at: datetime | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=lambda: NO_METADATA)
    provenance: Provenance = Provenance()
    superseded_by: str | None = None
    reason: str | None = None
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """One write: the text of a window or a note, and the facts that we found in it.

    Attributes:
        id: Content-derived; storing it again replaces what it held (pi/M-06).
        text: Bullets under category headings, or a note's own text.
        facts: Our facts; None leaves extraction to the bank.
        supersedes: Pairs (new fact id, old fact id): the old one becomes ``superseded``.
        context: The retain context for a bank that extracts by itself (pi/W-02).
        explicit: The user or agent asked for it; such a write may revive an invalidated fact.
        append: Added to the document of this id instead of replacing it; only for a bank that
            has `append` (`hindsight_core.banks.base.AppendingBank`).
        entities: Names told to a bank that extracts (spec s1, S-Q-1).
        observation_scopes: Sets of tags under which such a bank forms observations (S-RET-8).
    """

    id: str
    text: str
    facts: tuple[Fact, ...] | None = None
    supersedes: tuple[tuple[str, str], ...] = ()
    context: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=lambda: NO_METADATA)
    timestamp: datetime | None = None
    explicit: bool = False
    append: bool = False
    entities: tuple[str, ...] = ()
    observation_scopes: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentCopy:
    """A document as a copy of a bank holds it.

    Attributes:
        document: Its own fields; ``facts`` is None.
        fact_ids: Its facts in order; empty where the facts themselves tell it.
        created_at: When the bank stored it (UTC, aware); None when it does not know.
    """

    document: Document
    fact_ids: tuple[str, ...] = ()
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a write.

    Attributes:
        outcome: ``stored``; ``known`` when the bank held all of it; ``queued`` when durable
            here but not yet in the bank; ``failed`` when it will not be retried.
        document_id: The document written.
        fact_ids: Ids now in the bank for this document (empty when the bank extracts later).
        reason: Why, for ``queued`` and ``failed``.
    """

    outcome: Literal["stored", "known", "queued", "failed"]
    document_id: str
    fact_ids: tuple[str, ...] = ()
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class TagFilter:
    """A tag condition, with the Hindsight server's meaning on every bank.

    A leaf has ``tags`` and ``match``: ``any`` / ``all`` let untagged facts through, the strict
    forms do not, ``exact`` is set equality. A compound has exactly one of ``all_of``,
    ``any_of``, ``none_of`` filled with filters.
    """

    tags: tuple[str, ...] = ()
    match: TagMatch = "any"
    all_of: tuple[TagFilter, ...] = ()
    any_of: tuple[TagFilter, ...] = ()
    none_of: tuple[TagFilter, ...] = ()


@dataclass(frozen=True, slots=True)
class Scope:
    """Which part of a bank a search may see.

    Attributes:
        kinds: Fact kinds wanted; empty for all.
        tags: Tag condition; None for no condition.
        since: Facts said at or after this moment (UTC, aware).
        until: Facts said before this moment (UTC, aware).
        file: A path that the fact must mention.
        document_id: Only this document's facts.
        session_id: Only facts of this session.
    """

    kinds: tuple[str, ...] = ()
    tags: TagFilter | None = None
    since: datetime | None = None
    until: datetime | None = None
    file: str | None = None
    document_id: str | None = None
    session_id: str | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """One search of one bank.

    Attributes:
        text: The search key, in any language.
        limit: At most this many hits.
        scope: What may be found.
        context: The conversation before a follow-up question; used to expand the query.
        max_tokens: Bound on the returned text, for banks that know it.
        budget: ``low``, ``mid`` or ``high`` effort, for banks that know it.
        min_score: Hits under this score (0..1) are left out.
        min_scores: Floors by part of the score (``semantic``, ``reranker`` ...) that the bank
            applies itself, where it can.
        whole: The question in whole sentences, with what stood before it, for a bank that reads
            meaning; one that looks for words uses ``text``.
        prefer_observations: Observations before facts, for banks that make them; None for what
            is configured. So it is with the two below.
        at: The moment that the question is asked at, for banks that read times in it.
        source_facts: Tokens of the facts behind an observation that come with it; 0 for none.
        more: What only a server understands, by its own names; other banks ignore it.
    """

    text: str
    limit: int = 24
    scope: Scope = Scope()
    context: str | None = None
    max_tokens: int | None = None
    budget: Literal["low", "mid", "high"] = "mid"
    min_score: float | None = None
    min_scores: Mapping[str, float] = field(default_factory=dict)
    whole: str | None = None
    prefer_observations: bool | None = None
    at: datetime | None = None
    source_facts: int | None = None
    more: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Hit:
    """One fact found.

    Attributes:
        fact: The fact, as the bank holds it.
        bank: Id of the bank.
        score: 0..1, comparable inside one search only.
        parts: How the score came about (``words``, ``trigrams``, ``vectors`` ...), for ``explain``.
        evidence: Texts of the facts that an observation rests on, when they were asked for.
        missing: Files that the fact names and that are gone from the working tree.
        changed: Files that the fact names and that are different since.
    """

    fact: Fact
    bank: str
    score: float
    parts: Mapping[str, float] = field(default_factory=dict)
    evidence: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The id that every surface shows, ``bank:id``."""
        return f"{self.bank}:{self.fact.id}"


@dataclass(frozen=True, slots=True)
class BankStats:
    """Counts of a bank; ``facts`` counts valid facts, ``states`` all of them."""

    documents: int
    facts: int
    states: Mapping[str, int] = field(default_factory=dict)
    bytes: int | None = None


@dataclass(frozen=True, slots=True)
class FactPage:
    """One page of a listing; ``total`` counts all that match."""

    facts: tuple[Fact, ...]
    total: int


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """One page of a listing; ``total`` counts all that match."""

    documents: tuple[Document, ...]
    total: int
