"""The embedder of a vector bank: batches, bounded, its failures told as the bank's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from hindsight_core.embedding import guarded
from hindsight_core.errors import BankError, ProviderError

if TYPE_CHECKING:
    from hindsight_core.providers.base import Embedder

_PROBE = "dimensions"


class Vectors:
    """Asks the embedder for one bank.

    Args:
        embedder: The configured one.
        bank: Id of the bank, for messages.
    """

    def __init__(self, embedder: Embedder, *, bank: str) -> None:
        self._embedder = guarded(embedder)
        self._bank = bank

    @property
    def identity(self) -> str:
        """Names model and settings; vectors of two identities are never mixed."""
        return self._embedder.identity

    async def dimensions(self) -> int:
        """Length of a vector; asks for one when the embedder does not know it yet."""
        if self._embedder.dimensions is None:
            [vector] = await self.of([_PROBE], kind="document")
            return len(vector)
        return self._embedder.dimensions

    async def of(
        self, texts: Sequence[str], *, kind: Literal["query", "document"]
    ) -> list[Sequence[float]]:
        """One vector a text.

        Raises:
            BankError: The embedder failed; nothing was written.
        """
        try:
            return await self._embedder.embed(texts, kind=kind)
        except ProviderError as error:
            raise BankError(
                f"bank {self._bank}: its embedder failed: {error}",
                retryable=error.retryable,
                retry_after=error.retry_after,
            ) from error
