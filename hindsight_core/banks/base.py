"""What a bank is: the protocol that sqlite, the Hindsight server, Qdrant and plugins fulfil."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from hindsight_core.memory import (
    BankStats,
    Document,
    DocumentCopy,
    DocumentPage,
    Fact,
    FactPage,
    FactState,
    Hit,
    Query,
    Receipt,
)


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a bank can do by itself; the pipelines do the rest.

    Attributes:
        extracts: It finds the facts of a document's text; ours are not stored.
        reflects: It composes answers.
        vectors: It stores vectors that we give it.
        observations: It consolidates facts into observations.
        mental_models: It keeps mental models.
        edits: A fact's text and state can be changed.
        hard_delete: A fact can really be deleted.
    """

    extracts: bool = False
    reflects: bool = False
    vectors: bool = False
    observations: bool = False
    mental_models: bool = False
    edits: bool = True
    hard_delete: bool = True


@runtime_checkable
class Bank(Protocol):
    """One bank. Every method may raise `BankError`; nothing else leaves a bank.

    Ids are the bank's own (``Fact.id``), without the ``bank:`` prefix.
    """

    id: str
    backend: str
    capabilities: Capabilities

    async def ensure(self) -> None:
        """Create it if it is not there; idempotent."""
        ...

    async def retain(self, document: Document) -> Receipt:
        """Store a document with its facts, replacing the document of the same id.

        Durable when it returns. A fact that a person invalidated stays so, unless the document
        is explicit.
        """
        ...

    async def recall(self, query: Query) -> list[Hit]:
        """Valid facts for a query, best first, at most ``query.limit``."""
        ...

    async def stats(self) -> BankStats:
        """Counts, cheap enough to ask at every status line."""
        ...

    async def list_facts(
        self,
        *,
        state: FactState | None = "valid",
        limit: int = 50,
        offset: int = 0,
        search: str | None = None,
        document_id: str | None = None,
    ) -> FactPage:
        """Facts, newest first; ``state`` None for all."""
        ...

    async def get_fact(self, fact_id: str) -> Fact | None:
        """One fact in any state."""
        ...

    async def edit_fact(
        self, fact_id: str, *, text: str | None = None, tags: Sequence[str] | None = None
    ) -> Fact:
        """Change a fact in place; its id stays."""
        ...

    async def set_state(
        self,
        fact_id: str,
        state: FactState,
        *,
        reason: str | None = None,
        superseded_by: str | None = None,
    ) -> Fact:
        """Retire or restore a fact; refused (`BankError`) for retiring a pinned one."""
        ...

    async def pin_fact(self, fact_id: str, *, pinned: bool) -> Fact:
        """Protect a fact from automatic retirement, or end that."""
        ...

    async def delete_fact(self, fact_id: str) -> bool:
        """Really delete; False when it was not there."""
        ...

    async def list_documents(self, *, limit: int = 50, offset: int = 0) -> DocumentPage:
        """Documents, newest first."""
        ...

    async def get_document(self, document_id: str) -> Document | None:
        """One document with its facts."""
        ...

    async def delete_document(self, document_id: str) -> bool:
        """Delete a document and its facts; False when it was not there."""
        ...

    async def import_facts(self, facts: Iterable[Fact]) -> int:
        """Bulk upsert by id, states and pins included; how many were new or changed."""
        ...

    def export_facts(self) -> AsyncIterator[Fact]:
        """Every fact in every state, oldest first: an exact copy when imported again."""
        ...

    async def close(self) -> None:
        """Release files and connections."""
        ...


@runtime_checkable
class CopyingBank(Protocol):
    """A bank that can be copied whole: what its facts alone do not tell.

    `Bank.import_facts` comes first, since a document names facts that are there.
    """

    def export_documents(self) -> AsyncIterator[DocumentCopy]:
        """Every document, oldest first."""
        ...

    async def import_documents(self, copies: Iterable[DocumentCopy]) -> int:
        """Bulk upsert by id; how many were new or changed.

        Facts that a document has here besides those of its copy stay its own, behind them.
        """
        ...

    async def forgotten(self) -> frozenset[str]:
        """Identities (`hindsight_core.identity.fact_id`) of sentences deleted for good."""
        ...

    async def forget(self, contents: Iterable[str]) -> int:
        """Let no automatic write bring these sentences back; how many were new."""
        ...


@dataclass(frozen=True, slots=True)
class Reflection:
    """A composed answer and the facts (``bank:id``) it rests on."""

    text: str
    fact_ids: tuple[str, ...] = ()


@runtime_checkable
class ReflectingBank(Protocol):
    """A bank with `Capabilities.reflects`."""

    async def reflect(self, query: Query) -> Reflection:
        """Compose an answer from what the bank holds."""
        ...


@runtime_checkable
class AppendingBank(Protocol):
    """A bank whose documents can grow, each addition exactly once."""

    async def appends(self) -> bool:
        """Whether it can be relied on now; an old server, or one that is away, cannot."""
        ...

    async def append(self, document: Document, *, operation: str | None = None) -> Receipt:
        """Add a text to the document of this id.

        Args:
            document: The text, and the tags and metadata that the whole document has from now on.
            operation: Identity of this addition: given twice, it happens once.
        """
        ...


@dataclass(frozen=True, slots=True)
class MentalModel:
    """What a bank has concluded about one question, kept up to date by itself."""

    id: str
    name: str
    text: str
    tags: tuple[str, ...] = ()


@runtime_checkable
class ListsMentalModels(Protocol):
    """A bank with `Capabilities.mental_models`."""

    id: str

    async def mental_models(self) -> tuple[MentalModel, ...]:
        """Those that have a text."""
        ...


@runtime_checkable
class VectorBank(Protocol):
    """The small form for a vector store; an adapter makes a `Bank` of it."""

    id: str

    async def add(self, facts: Sequence[Fact], vectors: Sequence[Sequence[float]]) -> None:
        """Upsert facts with their vectors by id."""
        ...

    async def search(self, vector: Sequence[float], query: Query) -> list[Hit]:
        """Nearest facts that the query's scope allows."""
        ...

    async def get(self, fact_ids: Sequence[str]) -> list[Fact]:
        """Facts by id, those that exist."""
        ...

    async def delete(self, fact_ids: Sequence[str]) -> None:
        """Delete by id; unknown ids are no error."""
        ...
