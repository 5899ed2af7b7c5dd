from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from hindsight_core.config.settings import Settings
from hindsight_core.errors import BreakerOpen, ProviderError
from hindsight_core.providers.embeddings import HttpEmbedder, ollama_embedder, openai_embedder
from hindsight_core.services import Services
from hindsight_core.testing.embedders import HashEmbedder, hash_vector


def embedder(
    answer: Callable[[dict[str, Any]], Any], *, factory: Any = openai_embedder, **section: Any
) -> tuple[HttpEmbedder, list[dict[str, Any]]]:
    bodies: list[dict[str, Any]] = []

    def handle(request: httpx.Request) -> httpx.Response:
        bodies.append(json.loads(request.content) | {"path": request.url.path})
        found = answer(bodies[-1])
        return found if isinstance(found, httpx.Response) else httpx.Response(200, json=found)

    section = {"base_url": "http://e.test", "model": "small", **section}
    settings = Settings.model_validate({"embeddings": section})
    return factory(settings, Services(), transport=httpx.MockTransport(handle)), bodies


def rows(body: dict[str, Any], size: int = 4) -> dict[str, Any]:
    found = [{"index": i, "embedding": hash_vector(t, size)} for i, t in enumerate(body["input"])]
    return {"data": found[::-1]}


@pytest.mark.spec("am/A-PROMPT-4")
async def test_vectors_in_order_whatever_order_they_come_in() -> None:
    model, bodies = embedder(rows)
    vectors = await model.embed(["redis ttl", "friday deploys"], kind="document")
    assert vectors == [hash_vector("redis ttl", 4), hash_vector("friday deploys", 4)]
    assert bodies[0]["path"] == "/v1/embeddings"
    assert model.dimensions == 4
    await model.close()


async def test_batches() -> None:
    model, bodies = embedder(rows)
    texts = [f"text {n}" for n in range(130)] + ["x" * 90_000, "y" * 23_000, "z" * 23_000]
    vectors = await model.embed(texts, kind="document")
    assert len(vectors) == 133
    assert [len(body["input"]) for body in bodies] == [64, 64, 5]
    assert all(sum(map(len, body["input"])) <= 100_000 for body in bodies)
    assert max(len(text) for body in bodies for text in body["input"]) == 24_000


async def test_nothing_to_embed_asks_nothing() -> None:
    model, bodies = embedder(rows)
    assert await model.embed([], kind="query") == []
    assert bodies == []


async def test_models_for_queries_and_documents() -> None:
    model, bodies = embedder(rows, query_model="q", document_model="d", dimensions=4)
    await model.embed(["a"], kind="query")
    await model.embed(["a"], kind="document")
    assert [body["model"] for body in bodies] == ["q", "d"]
    assert bodies[0]["dimensions"] == 4
    assert model.identity == "openai/d+q:4"


@pytest.mark.spec("am/A-PROMPT-4")
async def test_identity_names_the_model_and_not_the_address() -> None:
    here, _ = embedder(rows, base_url="http://a")
    there, _ = embedder(rows, base_url="http://b")
    other, _ = embedder(rows, model="large")
    assert here.identity == there.identity == "openai/small"
    assert other.identity != here.identity


@pytest.mark.spec("am/A-PROMPT-4")
@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ({"data": []}, "0 vectors for 1 texts"),
        ({}, "no vectors"),
        ({"data": [{"embedding": []}]}, "no list of numbers"),
        ({"data": [{"embedding": ["a"]}]}, "no list of numbers"),
        ({"data": [{"embedding": [None, 1]}]}, "no list of numbers"),
        (httpx.Response(200, text='{"data": [{"embedding": [NaN, 1.0]}]}'), "no list of numbers"),
        (httpx.Response(401), r"embeddings\.api_key_env"),
        (httpx.Response(200, text="<html>"), r"embeddings\.base_url"),
    ],
)
async def test_what_does_not_fit_is_an_error(answer: Any, says: str) -> None:
    model, _ = embedder(lambda _: answer)
    with pytest.raises(ProviderError, match=says):
        await model.embed(["a"], kind="query")


async def test_a_vector_of_another_length_is_refused() -> None:
    sizes = iter([4, 5])
    model, _ = embedder(lambda body: rows(body, next(sizes)))
    await model.embed(["a"], kind="document")
    with pytest.raises(ProviderError, match="5 numbers where 4 were expected"):
        await model.embed(["a"], kind="document")
    asked, _ = embedder(rows, dimensions=8)
    with pytest.raises(ProviderError, match="4 numbers where 8"):
        await asked.embed(["a"], kind="document")


async def test_three_failures_open_the_breaker() -> None:
    model, bodies = embedder(lambda _: httpx.Response(503))
    for _ in range(3):
        with pytest.raises(ProviderError, match="503"):
            await model.embed(["a"], kind="query")
    with pytest.raises(BreakerOpen):
        await model.embed(["a"], kind="query")
    assert len(bodies) == 3


@pytest.mark.spec("am/A-PROMPT-4")
async def test_ollama() -> None:
    model, bodies = embedder(
        lambda body: {"embeddings": [hash_vector(t, 4) for t in body["input"]]},
        factory=ollama_embedder,
    )
    assert await model.embed(["a"], kind="query") == [hash_vector("a", 4)]
    assert bodies == [{"path": "/api/embed", "model": "small", "input": ["a"]}]


def test_what_is_needed_is_said() -> None:
    bare = Settings.model_validate({"embeddings": {"base_url": "http://a"}})
    with pytest.raises(ProviderError, match=r"needs embeddings\.model"):
        openai_embedder(bare, Services())
    with pytest.raises(ProviderError, match=r"needs embeddings\.base_url"):
        openai_embedder(Settings(), Services())


async def test_hash_embedder_puts_shared_words_near() -> None:
    model = HashEmbedder(128)
    near, far, query = await model.embed(
        ["redis cache ttl", "friday deploy ban", "the redis ttl"], kind="document"
    )

    def product(a: list[float], b: list[float]) -> float:
        return sum(x * y for x, y in zip(a, b, strict=True))

    assert product(near, query) > product(far, query)
    assert product(near, near) == pytest.approx(1)
