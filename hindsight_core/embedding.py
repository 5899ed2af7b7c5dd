"""One way to ask an embedder: in a thread if it is plain, with a deadline, its answer checked."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

from hindsight_core.errors import HindsightError, ProviderError
from hindsight_core.isolation import Overdue, call_async

if TYPE_CHECKING:
    from hindsight_core.providers.base import Embedder

Kind = Literal["query", "document"]
Vector = Sequence[float]
QUERY_S = 5.0
DOCUMENTS_S = 60.0
MAX_CHARACTERS = 24_000
FAILURES = 3
PAUSE_S = 30.0


class GuardedEmbedder:
    """An embedder that costs at most its vectors, whatever it does (br/BR-53).

    A turn waits for the vector of its query, so the bound of a query is short; documents are
    embedded behind. After three failures in a row it is left alone for half a minute.

    Args:
        embedder: The configured one, plain or asynchronous.
        monotonic: Seconds that only grow.
    """

    def __init__(
        self, embedder: Embedder, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._embedder = embedder
        self._monotonic = monotonic
        self._failed = 0
        self._until = 0.0
        self._reason = ""
        self._running = 0
        self._counting = threading.Lock()

    @property
    def identity(self) -> str:
        """Names model and settings; vectors of two identities are never mixed."""
        return self._embedder.identity

    @property
    def dimensions(self) -> int | None:
        """Length of a vector; None until it is known."""
        return self._embedder.dimensions

    @property
    def absent(self) -> str | None:
        """Why there is no embedder behind it; None where there is one."""
        # By its class: an embedder of a plugin may have a reason of its own.
        return self._embedder.reason if isinstance(self._embedder, AbsentEmbedder) else None

    async def embed(self, texts: Sequence[str], *, kind: Kind) -> list[Vector]:
        """One vector a text, in order; each text is cut at `MAX_CHARACTERS`.

        Raises:
            ProviderError: It failed, was too slow, is left alone for now, or gave something else
                than one vector of numbers a text.
        """
        if not texts:
            return []
        self._check_pause()
        try:
            vectors = await self._ask([text[:MAX_CHARACTERS] for text in texts], kind)
        except ProviderError as error:
            self._failure(error)
            raise
        self._failed = 0
        return vectors

    async def close(self) -> None:
        """Release what the embedder holds."""
        if (close := getattr(self._embedder, "close", None)) is not None:
            await close()

    async def _ask(self, texts: Sequence[str], kind: Kind) -> list[Vector]:
        name = f"the embedder {self.identity}"
        seconds = QUERY_S if kind == "query" else DOCUMENTS_S
        try:
            given = await call_async(
                partial(self._embedder.embed, texts, kind=kind),
                {},
                seconds=seconds,
                stuck=self._stuck,
            )
        except Overdue:
            raise ProviderError(f"{name} gave no vectors within {seconds:g} s") from None
        except ProviderError:
            raise
        except Exception as error:
            # Whatever a plugin does, it costs its vectors and nothing else.
            raise ProviderError(f"{name} failed: {type(error).__name__}: {error}") from error
        return self._checked(given, len(texts), name)

    def _checked(self, given: object, wanted: int, name: str) -> list[Vector]:
        try:
            vectors: list[Vector] = list(given)  # type: ignore[call-overload]
            size = self.dimensions or (len(vectors[0]) if vectors else 0)
            right = all(len(v) == size and all(map(math.isfinite, v)) for v in vectors)
        except Exception as error:
            raise ProviderError(f"{name} gave no vectors: {error}", retryable=False) from error
        if len(vectors) != wanted:
            raise ProviderError(f"{name} gave {len(vectors)} vectors for {wanted} texts")
        if not right:
            raise ProviderError(f"{name} gave a vector that is not {size} finite numbers")
        return vectors

    def _check_pause(self) -> None:
        if self._running >= FAILURES:
            raise ProviderError(f"the embedder {self.identity} is stuck in {self._running} calls")
        left = self._until - self._monotonic()
        if left > 0:
            raise ProviderError(
                f"the embedder {self.identity} is left alone for another {left:.0f} s: "
                f"{self._reason}"
            )

    def _failure(self, error: ProviderError) -> None:
        self._failed += 1
        self._reason = str(error)
        if self._failed >= FAILURES:
            # One call more after the pause: it opens again at the first failure.
            self._failed = FAILURES - 1
            self._until = self._monotonic() + PAUSE_S

    def _stuck(self, change: int) -> None:
        with self._counting:
            self._running += change


def guarded(embedder: Embedder) -> GuardedEmbedder:
    """The same embedder behind the guard; one that is there already keeps its state."""
    return embedder if isinstance(embedder, GuardedEmbedder) else GuardedEmbedder(embedder)


class AbsentEmbedder:
    """Stands for an embedder that cannot be made: each call fails with the reason.

    What is configured wrong costs its vectors, as an embedder that fails does, and not the memory.
    """

    dimensions: int | None = None

    def __init__(self, name: str, reason: str) -> None:
        self.identity = name
        self.reason = reason

    async def embed(self, texts: Sequence[str], *, kind: Kind) -> list[Vector]:
        """Nothing.

        Raises:
            ProviderError: Always.
        """
        raise ProviderError(self.reason, retryable=False)


def created(make: Callable[[], Embedder], *, name: str) -> GuardedEmbedder:
    """The embedder of this configured name, or what stands for it where it cannot be made."""
    try:
        return guarded(make())
    except HindsightError as error:
        return GuardedEmbedder(AbsentEmbedder(name, str(error)))
