"""Asks the embedder for vectors: after a write, for a query, and to catch up after a change."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal

from hindsight_core.banks.sqlite import vectors
from hindsight_core.embedding import guarded
from hindsight_core.errors import ProviderError

if TYPE_CHECKING:
    from hindsight_core.banks.sqlite.guard import BankFile
    from hindsight_core.providers.base import Embedder

BATCH = 64
# Characters of the conversation that a question is read with.
_CONTEXT = 600


class Embedding:
    """Keeps a bank's vectors in step with its facts.

    A failing embedder never fails a write or a search: the fact is found by its words until
    `catch_up` gives it its vector.
    """

    def __init__(self, embedder: Embedder, logger: logging.Logger) -> None:
        self._embedder = guarded(embedder)
        self._log = logger
        self._told = False
        self.table = vectors.VectorTable(embedder.identity)

    async def query(self, text: str, *, context: str | None = None) -> Sequence[float] | None:
        """Vector of a query; None when the embedder is away.

        A question that follows on others may say too little alone and too much with all that was
        said: its vector is the sum of both.
        """
        texts = [text, f"{context[-_CONTEXT:]}\n{text}"] if context else [text]
        try:
            made = await self._embed(texts, "query")
        except ProviderError as error:
            self._tell(error)
            return None
        return [sum(numbers) for numbers in zip(*made, strict=True)]

    async def after_write(self, file: BankFile, rows: Sequence[int]) -> None:
        """Vectors for facts just stored, and for a batch of older ones that still have none."""
        try:
            for start in range(0, len(rows), BATCH):
                await self._one_batch(file, rows[start : start + BATCH])
            await self._one_batch(file, None)
        except ProviderError as error:
            self._tell(error)

    async def catch_up(
        self, file: BankFile, *, progress: Callable[[int], None] | None = None
    ) -> int:
        """Vectors for every fact that has none of this embedder; how many were made.

        Each batch is kept as soon as it is there, so a run that was cut off goes on where it
        stopped.

        Raises:
            ProviderError: The embedder failed; what was done before stays.
        """
        done = 0
        while count := await self._one_batch(file, None):
            done += count
            if progress is not None:
                progress(done)
        return done

    async def _one_batch(self, file: BankFile, rows: Sequence[int] | None) -> int:
        identity = self._embedder.identity
        facts = await file.read(
            lambda connection: vectors.waiting(connection, identity, limit=BATCH, rows=rows)
        )
        if facts:
            made = await self._embed([fact.text for fact in facts], "document")
            await file.write(lambda connection: vectors.put(connection, identity, facts, made))
        return len(facts)

    async def _embed(
        self, texts: Sequence[str], kind: Literal["query", "document"]
    ) -> Sequence[Sequence[float]]:
        if find_spec("numpy") is None:
            raise ProviderError(
                "numpy is not installed, and vectors need it: pip install 'hindsight-core[vectors]'"
            )
        return await self._embedder.embed(texts, kind=kind)

    def _tell(self, error: ProviderError) -> None:
        if not self._told:
            self._told = True
            self._log.warning("no vectors for now, words alone are searched: %s", error)
