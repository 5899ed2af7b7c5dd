"""What every embedder must do: subclass `EmbedderContract` and give it an ``embedder`` fixture."""

# A suite of tests: asserts are its purpose, names are its documentation.
# ruff: noqa: D102, S101

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import pytest

from hindsight_core.providers.base import Embedder
from hindsight_core.testing.waiting import value_of

if TYPE_CHECKING:
    Vectors = list[list[float]]

PREFETCH = "The queue prefetch is 50"
LUNCH = "Lunch is at noon in the canteen"
TEXTS = (PREFETCH, LUNCH, "Deploys run from the main branch only")
ODD = (
    "",
    " \n",
    "PREFETCH=50;" * 4000,
    "Die Wärmepumpe läuft",
    "队列预取值是 50",
    "🚀 naïve\u0301",
)
NEAR = pytest.approx


async def embed(
    embedder: Embedder, texts: Sequence[str], *, kind: Literal["query", "document"] = "document"
) -> Vectors:
    """The vectors as lists of float."""
    vectors = await value_of(embedder.embed(texts, kind=kind))
    return [[float(number) for number in vector] for vector in vectors]


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """How near two vectors are; 0 when one of them is zero."""
    length = math.hypot(*one) * math.hypot(*other)
    return sum(a * b for a, b in zip(one, other, strict=True)) / length if length else 0.0


class EmbedderContract:
    """Rules that hold for every embedder."""

    def test_fulfils_the_protocol(self, embedder: Embedder) -> None:
        assert isinstance(embedder, Embedder)
        assert embedder.dimensions is None or embedder.dimensions > 0

    def test_its_identity_is_one_line_that_stays(self, embedder: Embedder) -> None:
        assert isinstance(embedder.identity, str)
        assert embedder.identity.strip() == embedder.identity != ""
        assert len(embedder.identity.splitlines()) == 1

    async def test_one_vector_for_each_text_all_of_one_length(self, embedder: Embedder) -> None:
        before = embedder.identity
        vectors = await embed(embedder, TEXTS)
        assert len(vectors) == len(TEXTS)
        assert len({len(vector) for vector in vectors}) == 1
        assert embedder.dimensions in (None, len(vectors[0]))
        assert embedder.identity == before

    async def test_queries_and_documents_can_be_compared(self, embedder: Embedder) -> None:
        [asked] = await embed(embedder, ["queue prefetch"], kind="query")
        [stored] = await embed(embedder, [PREFETCH])
        assert len(asked) == len(stored)

    async def test_nothing_gives_nothing(self, embedder: Embedder) -> None:
        assert await embed(embedder, []) == []

    async def test_the_same_text_has_the_same_vector_whatever_stands_beside_it(
        self, embedder: Embedder
    ) -> None:
        together = await embed(embedder, [*TEXTS, PREFETCH])
        assert together[0] == NEAR(together[-1], abs=1e-4)
        for text, vector in zip(TEXTS, together, strict=False):
            assert (await embed(embedder, [text]))[0] == NEAR(vector, abs=1e-4)

    async def test_different_texts_have_different_vectors(self, embedder: Embedder) -> None:
        first, second, third = await embed(embedder, TEXTS)
        assert first != second != third != first

    async def test_numbers_are_finite_and_texts_have_a_direction(self, embedder: Embedder) -> None:
        for vector in await embed(embedder, TEXTS):
            assert all(math.isfinite(number) for number in vector)
            assert any(vector)

    async def test_what_shares_words_is_nearer_than_what_does_not(self, embedder: Embedder) -> None:
        [asked] = await embed(embedder, ["queue prefetch"], kind="query")
        near, far = await embed(embedder, [PREFETCH, LUNCH])
        assert cosine(asked, near) > cosine(asked, far)

    async def test_any_text_is_taken(self, embedder: Embedder) -> None:
        vectors = await embed(embedder, ODD)
        assert len(vectors) == len(ODD)
        assert all(math.isfinite(number) for vector in vectors for number in vector)

    async def test_more_texts_than_one_request_takes(self, embedder: Embedder) -> None:
        texts = [f"Port {number} is open" for number in range(150)]
        vectors = await embed(embedder, texts)
        assert len(vectors) == len(texts)
        assert vectors[149] == NEAR((await embed(embedder, texts[149:]))[0], abs=1e-4)

    async def test_calls_side_by_side_do_not_mix(self, embedder: Embedder) -> None:
        alone = [(await embed(embedder, [text]))[0] for text in TEXTS]
        at_once = await asyncio.gather(*(embed(embedder, [text]) for text in TEXTS))
        for [vector], right in zip(at_once, alone, strict=True):
            assert vector == NEAR(right, abs=1e-4)
