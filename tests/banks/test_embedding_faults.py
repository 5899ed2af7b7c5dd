from __future__ import annotations

import asyncio
import threading

import pytest

from hindsight_core import embedding
from hindsight_core.banks.sqlite import SqliteBank
from hindsight_core.embedding import FAILURES, PAUSE_S, GuardedEmbedder
from hindsight_core.errors import ProviderError
from hindsight_core.identity import fact_id
from hindsight_core.memory import Document, Fact, Query
from hindsight_core.testing.embedders import HashEmbedder

TEXT = "Checkout listens on port 7443."


class Faulty:
    identity = "faulty"
    dimensions = 3

    def __init__(self, answer):
        self.answer = answer

    def embed(self, texts, *, kind):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def document(key, text):
    return Document(key, text, facts=(Fact(fact_id(text), text, document_id=key),))


@pytest.mark.parametrize(
    "answer",
    [
        RuntimeError("boom"),
        None,
        [],
        [[1.0, 2.0]],
        [[1.0, float("nan"), 0.0]],
        [["a", "b", "c"]],
    ],
)
async def test_a_faulty_embedder_costs_its_vectors_and_nothing_else(tmp_path, answer):
    bank = SqliteBank("shop", tmp_path / "shop.db", embedder=Faulty(answer))
    assert (await bank.retain(document("d1", TEXT))).outcome == "stored"
    [hit] = await bank.recall(Query("checkout port"))
    assert hit.fact.text == TEXT
    await bank.close()


async def test_facts_from_before_the_embedder_get_vectors_with_the_next_write(tmp_path):
    path = tmp_path / "shop.db"
    bank = SqliteBank("shop", path)
    await bank.retain(document("d1", TEXT))
    await bank.close()
    bank = SqliteBank("shop", path, embedder=HashEmbedder())
    await bank.retain(document("d2", "Payments are captured by the acquirer."))
    hits = await bank.recall(Query("checkout port"))
    assert hits[0].fact.text == TEXT
    assert "vectors" in hits[0].parts
    await bank.close()


class Hanging:
    """Blocks its thread until it is let go; it counts how often it was asked."""

    identity = "hanging"
    dimensions = 3

    def __init__(self):
        self.release = threading.Event()
        self.asked = 0

    def embed(self, texts, *, kind):
        self.asked += 1
        self.release.wait(30)
        return [[1.0, 0.0, 0.0] for _ in texts]


@pytest.mark.spec("br/BR-53")
async def test_an_embedder_that_hangs_stops_neither_a_search_nor_anything_else(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(embedding, "QUERY_S", 0.05)
    monkeypatch.setattr(embedding, "DOCUMENTS_S", 0.05)
    hanging = Hanging()
    ticks = 0

    async def tick():
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0.001)

    ticking = asyncio.create_task(tick())
    bank = SqliteBank("shop", tmp_path / "shop.db", embedder=hanging)
    assert (await bank.retain(document("d1", TEXT))).outcome == "stored"
    for _ in range(FAILURES + 3):
        [hit] = await bank.recall(Query("checkout port"))
        assert hit.fact.text == TEXT
    ticking.cancel()
    # The loop went on meanwhile, and a stuck embedder is not asked again and again.
    assert ticks > 10
    assert hanging.asked == FAILURES
    hanging.release.set()
    await bank.close()


async def test_an_embedder_that_fails_is_left_alone_and_tried_again():
    now = [0.0]
    faulty = Faulty(RuntimeError("boom"))
    guard = GuardedEmbedder(faulty, monotonic=lambda: now[0])
    for _ in range(FAILURES):
        with pytest.raises(ProviderError, match="boom"):
            await guard.embed(["text"], kind="query")
    faulty.answer = [[1.0, 2.0, 3.0]]
    with pytest.raises(ProviderError, match=r"left alone for another 30 s.*boom"):
        await guard.embed(["text"], kind="query")
    now[0] += PAUSE_S
    assert await guard.embed(["text"], kind="query") == [[1.0, 2.0, 3.0]]
