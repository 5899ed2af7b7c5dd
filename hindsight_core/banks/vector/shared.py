"""What a vector store may do beyond `VectorBank`, so that several machines can share a bank."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from hindsight_core.banks.base import VectorBank
from hindsight_core.memory import Fact


@dataclass(frozen=True, slots=True)
class Record:
    """Something small that is not a fact.

    Attributes:
        kind: ``document``, or ``forgotten`` for the identity of a sentence deleted for good.
        key: Unique in its kind.
        body: JSON.
    """

    kind: Literal["document", "forgotten"]
    key: str
    body: str = "{}"


@runtime_checkable
class SharedVectorBank(VectorBank, Protocol):
    """A vector store that holds all of a bank; the local side table is then a mere cache.

    Its writes are last-writer-wins by id. The revision names the state of the whole: a side
    table of another revision is made anew from `scan` and `records`.
    """

    async def open(self, *, identity: str, dimensions: Callable[[], Awaitable[int]]) -> None:
        """Create what is missing and check what is there; cheap when called again.

        Args:
            identity: Of the embedder; kept with the vectors.
            dimensions: Gives the length of a vector; only asked when it is needed.

        Raises:
            BankError: The vectors there are another embedder's.
        """
        ...

    async def update(self, facts: Sequence[Fact]) -> None:
        """Store facts anew whose vectors stay."""
        ...

    def scan(self) -> AsyncIterator[Fact]:
        """Every fact in every state, in any order."""
        ...

    async def records(self) -> list[Record]:
        """Every record."""
        ...

    async def put_records(self, records: Sequence[Record]) -> None:
        """Upsert by kind and key."""
        ...

    async def drop_records(self, records: Sequence[Record]) -> None:
        """Delete by kind and key; unknown ones are no error."""
        ...

    async def revision(self) -> str | None:
        """The state that the last writer named; None before the first write."""
        ...

    async def set_revision(self, revision: str) -> None:
        """Name a new state, before writing it."""
        ...

    async def close(self) -> None:
        """Release connections."""
        ...
