"""What a model and an embedder are."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

Purpose = Literal["recall", "retain"]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a completion request."""

    role: Literal["user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call, as the provider counted them."""

    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """One isolated call of a small model.

    Attributes:
        stage: Name of the template that made it, such as ``recall/judge``.
        messages: Alternating, the last one the user's.
        system: The system line; it already ends with the stage mark.
        model: The model's id for the provider; None for the provider's own default.
        max_tokens: Output bound.
        json: Ask the provider for a JSON object where it can do that.
        cache: Worth caching the prefix (pi/T-03).
        session_id: For the provider's cache affinity.
    """

    stage: str
    messages: tuple[Message, ...]
    system: str | None = None
    model: str | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    json: bool = False
    reasoning: str | None = None
    cache: bool = False
    session_id: str | None = None


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's answer; ``text`` is never blank."""

    text: str
    model: str
    usage: Usage | None = None


@runtime_checkable
class Model(Protocol):
    """A provider of completions.

    Failure is a `ProviderError`, never an empty text.
    """

    def complete(self, request: CompletionRequest) -> Awaitable[Completion] | Completion:
        """Answer one request."""
        ...


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def identity(self) -> str:
        """Names model and settings; vectors of two identities are never mixed."""
        ...

    @property
    def dimensions(self) -> int | None:
        """Length of a vector; None until it is known."""
        ...

    def embed(
        self, texts: Sequence[str], *, kind: Literal["query", "document"]
    ) -> Awaitable[Sequence[Sequence[float]]] | Sequence[Sequence[float]]:
        """One vector a text, in order."""
        ...
