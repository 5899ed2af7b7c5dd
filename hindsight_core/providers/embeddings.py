"""Embedders over HTTP: OpenAI-compatible ``/embeddings`` and Ollama's ``/api/embed``."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from hindsight_core.errors import ProviderError
from hindsight_core.providers.breaker import Breaker
from hindsight_core.providers.http import Endpoint
from hindsight_core.providers.json_text import clean
from hindsight_core.providers.ollama import DEFAULT_URL as OLLAMA_URL
from hindsight_core.providers.openai import api_base, bearer

if TYPE_CHECKING:
    import httpx

    from hindsight_core.config.settings import Settings
    from hindsight_core.services import Services

    Body = Callable[[str, Sequence[str], int | None], dict[str, Any]]
    Vectors = Callable[[Mapping[str, Any]], object]

BATCH_TEXTS = 64
BATCH_CHARACTERS = 100_000
MAX_CHARACTERS = 24_000


class HttpEmbedder:
    """Implements `hindsight_core.providers.base.Embedder`.

    The identity names provider, models and asked dimensions, not the address: the same model
    behind another address gives the same vectors. A vector of another length than before is an
    error, because it could not be compared.

    Args:
        endpoint: Where to ask.
        breaker: Guards it.
        path: Of the request.
        body: Makes the request from model, texts and asked dimensions.
        vectors: Takes the list of vectors out of an answer.
        models: The model for queries and the model for documents.
        asked: Dimensions to ask for; None for the model's own.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        breaker: Breaker,
        path: str,
        body: Body,
        vectors: Vectors,
        models: Mapping[Literal["query", "document"], str],
        asked: int | None,
    ) -> None:
        self.identity = _identity(endpoint.name, models, asked)
        self.dimensions: int | None = asked
        self._endpoint = endpoint
        self._breaker = breaker
        self._path = path
        self._body = body
        self._vectors = vectors
        self._models = models
        self._asked = asked

    async def embed(
        self, texts: Sequence[str], *, kind: Literal["query", "document"]
    ) -> list[list[float]]:
        """One vector a text, in order, asked for in batches.

        Raises:
            ProviderError: The server failed, or gave vectors that do not fit.
        """
        found: list[list[float]] = []
        for batch in _batches(texts):
            found += await self._breaker.call(lambda part=batch: self._batch(part, kind))  # type: ignore[misc]
        return found

    async def close(self) -> None:
        """Close the connection."""
        await self._endpoint.close()

    async def _batch(
        self, texts: Sequence[str], kind: Literal["query", "document"]
    ) -> list[list[float]]:
        payload = self._body(self._models[kind], texts, self._asked)
        vectors = self._vectors(await self._endpoint.post(self._path, payload))
        if not isinstance(vectors, list) or len(vectors) != len(texts):
            count = len(vectors) if isinstance(vectors, list) else "no"
            raise ProviderError(
                f"{self.identity} gave {count} vectors for {len(texts)} texts. "
                "Check embeddings.base_url and embeddings.model."
            )
        return [self._checked(vector) for vector in vectors]

    def _checked(self, vector: object) -> list[float]:
        numbers = vector if isinstance(vector, list) else []
        if not numbers or not all(_is_number(number) for number in numbers):
            raise ProviderError(f"{self.identity} gave a vector that is no list of numbers")
        if self.dimensions is None:
            self.dimensions = len(numbers)
        if len(numbers) != self.dimensions:
            raise ProviderError(
                f"{self.identity} gave a vector of {len(numbers)} numbers where "
                f"{self.dimensions} were expected. Check embeddings.model and "
                "embeddings.dimensions.",
                retryable=False,
            )
        return [float(number) for number in numbers]


def openai_embedder(
    settings: Settings, services: Services, *, transport: httpx.AsyncBaseTransport | None = None
) -> HttpEmbedder:
    """The factory registered as ``openai``."""
    if not settings.embeddings.base_url:
        raise ProviderError(
            "embeddings.provider = openai needs embeddings.base_url, such as "
            "http://127.0.0.1:8080/v1",
            retryable=False,
        )
    return _embedder(
        settings,
        services,
        name="openai",
        base_url=api_base(settings.embeddings.base_url),
        path="/embeddings",
        body=_openai_body,
        vectors=_openai_vectors,
        transport=transport,
    )


def ollama_embedder(
    settings: Settings, services: Services, *, transport: httpx.AsyncBaseTransport | None = None
) -> HttpEmbedder:
    """The factory registered as ``ollama``."""
    return _embedder(
        settings,
        services,
        name="ollama",
        base_url=(settings.embeddings.base_url or OLLAMA_URL).rstrip("/").removesuffix("/v1"),
        path="/api/embed",
        body=lambda model, texts, _: {"model": model, "input": list(texts)},
        vectors=lambda answer: answer.get("embeddings"),
        transport=transport,
    )


def _embedder(
    settings: Settings,
    services: Services,
    *,
    name: str,
    base_url: str,
    path: str,
    body: Body,
    vectors: Vectors,
    transport: httpx.AsyncBaseTransport | None,
) -> HttpEmbedder:
    section = settings.embeddings
    query, document = section.query_model or section.model, section.document_model or section.model
    if not query or not document:
        raise ProviderError(
            f"embeddings.provider = {name} needs embeddings.model.", retryable=False
        )
    endpoint = Endpoint(
        name=name,
        base_url=base_url,
        section="embeddings",
        key_env=section.api_key_env,
        headers=bearer,
        timeout_s=section.timeout_ms / 1000,
        clock=services.clock,
        env=services.env,
        transport=transport,
    )
    return HttpEmbedder(
        endpoint,
        breaker=Breaker(f"embedder {name}", clock=services.clock),
        path=path,
        body=body,
        vectors=vectors,
        models={"query": query, "document": document},
        asked=section.dimensions,
    )


def _identity(
    name: str, models: Mapping[Literal["query", "document"], str], asked: int | None
) -> str:
    both = "+".join(dict.fromkeys((models["document"], models["query"])))
    return f"{name}/{both}" + (f":{asked}" if asked else "")


def _openai_body(model: str, texts: Sequence[str], asked: int | None) -> dict[str, Any]:
    payload: dict[str, Any] = {"model": model, "input": list(texts), "encoding_format": "float"}
    return {**payload, "dimensions": asked} if asked else payload


def _openai_vectors(answer: Mapping[str, Any]) -> object:
    rows = answer.get("data")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        return None
    if all(isinstance(row.get("index"), int) for row in rows):
        rows = sorted(rows, key=lambda row: row["index"])
    return [row.get("embedding") for row in rows]


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for text in texts:
        part = clean(text)[:MAX_CHARACTERS] or " "
        if batch and (len(batch) >= BATCH_TEXTS or size + len(part) > BATCH_CHARACTERS):
            yield batch
            batch, size = [], 0
        batch.append(part)
        size += len(part)
    if batch:
        yield batch


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
