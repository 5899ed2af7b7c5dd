from __future__ import annotations

import pytest

from hindsight_core.banks.sqlite import SqliteBank
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
