from __future__ import annotations

import pytest

from hindsight_core.errors import BankError, ProviderError
from hindsight_core.identity import fact_id
from hindsight_core.memory import Query, Scope, TagFilter
from hindsight_core.testing.banks import document, fact
from hindsight_core.testing.embedders import HashEmbedder

TEXTS = [f"fact {n} is about topic{n % 9} and part{n}" for n in range(50)]


class Away(HashEmbedder):
    """Fails after a number of calls."""

    def __init__(self, calls_left=0, **options):
        super().__init__(**options)
        self.left = calls_left

    async def embed(self, texts, *, kind):
        if self.left == 0:
            raise ProviderError("connection refused")
        self.left -= 1
        return await super().embed(texts, kind=kind)


class Meaning(HashEmbedder):
    """Knows that a car is an automobile."""

    async def embed(self, texts, *, kind):
        return await super().embed([t.replace("automobile", "car") for t in texts], kind=kind)


async def test_vectors_find_what_words_do_not(open_bank, found):
    texts = ("the car is in the garage", "lunch is at noon", "tea is at four")
    plain, near = open_bank("plain"), open_bank("near", embedder=Meaning())
    for bank in (plain, near):
        await bank.retain(document("d1", texts[0]))
        await bank.retain(document("d2", *texts[1:]))
    assert await found(plain, "automobile") == []
    hits = await near.recall(Query("automobile"))
    assert hits[0].fact.text == texts[0]
    assert hits[0].parts["vectors"] > 0.3


async def test_vectors_of_a_file_made_after_the_first_search(open_bank, found):
    reader, writer = (open_bank(embedder=Meaning()) for _ in range(2))
    for _ in range(2):
        assert await found(reader, "automobile") == []
    await writer.retain(document("d1", "the car is in the garage"))
    assert await found(reader, "automobile") == ["the car is in the garage"]
    for file in writer.path.parent.iterdir():
        file.unlink()
    assert await found(reader, "automobile") == []
    await writer.retain(document("d2", "a car needs fuel"))
    assert await found(reader, "automobile") == ["a car needs fuel"]


async def test_a_write_makes_vectors_and_state_tells(open_bank):
    bank = open_bank(embedder=HashEmbedder(8))
    await bank.retain(document("d1", *TEXTS[:3]))
    state = await bank.vector_state()
    assert (state.current, state.missing, state.others) == (3, 0, 0)
    await bank.edit_fact(fact_id(TEXTS[0]), text="it says something else")
    assert (await bank.vector_state()).missing == 1
    assert await bank.reembed() == 1


@pytest.mark.spec("br/BR-28", "am/A-STORE-7")
async def test_another_embedder_breaks_nothing_and_is_caught_up_with(open_bank, found):
    old = open_bank(embedder=HashEmbedder(8))
    await old.import_facts([fact(text) for text in TEXTS])
    assert await old.reembed() == 50
    new = open_bank(embedder=HashEmbedder(16))
    assert (await found(new, "part7"))[0] == TEXTS[7]
    state = await new.vector_state()
    assert (state.current, state.missing, state.others) == (0, 50, 50)
    assert (await new.retain(document("d1", "a new one"))).outcome == "stored"
    assert (await new.set_state(fact_id(TEXTS[3]), "invalidated")).state == "invalidated"
    # the write took a batch of the older ones along
    state = await new.vector_state()
    assert (state.current, state.missing, state.others) == (50, 0, 0)
    assert await new.reembed() == 0
    assert (await new.list_facts(state=None)).total == 51


@pytest.mark.spec("br/BR-28", "am/A-STORE-7")
async def test_re_embedding_goes_on_where_it_was_cut_off(open_bank):
    facts = [fact(f"{n} {text}") for n in range(4) for text in TEXTS]
    bank = open_bank(embedder=Away(calls_left=2))
    await bank.import_facts(facts)
    seen = []
    with pytest.raises(ProviderError):
        await bank.reembed(progress=seen.append)
    assert seen == [64, 128]
    assert (await bank.vector_state()).current == 128
    again = open_bank(embedder=HashEmbedder())
    assert await again.reembed() == len(facts) - 128


async def test_an_embedder_that_is_away_stops_neither_write_nor_search(open_bank, found, caplog):
    bank = open_bank(embedder=Away())
    assert (await bank.retain(document("d1", TEXTS[0]))).outcome == "stored"
    assert await found(bank, "topic0") == [TEXTS[0]]
    assert len([r for r in caplog.records if "connection refused" in r.message]) == 1
    assert (await bank.vector_state()).missing == 1


async def test_an_embedder_that_gives_too_few_vectors_is_refused(open_bank):
    class Short(HashEmbedder):
        async def embed(self, texts, *, kind):
            return (await super().embed(texts, kind=kind))[:-1]

    bank = open_bank(embedder=Short())
    await bank.import_facts([fact(TEXTS[0])])
    with pytest.raises((ProviderError, BankError)):
        await bank.reembed()


@pytest.mark.spec("am/A-STORE-1")
async def test_an_embedder_that_changes_its_length_is_not_used(open_bank, found):
    bank = open_bank(embedder=HashEmbedder(8, identity="same"))
    await bank.retain(document("d1", TEXTS[0]))
    other = open_bank(embedder=HashEmbedder(16, identity="same"))
    assert await found(other, "topic0") == [TEXTS[0]]
    await other.retain(document("d2", TEXTS[9]))
    assert set(await found(other, "topic0")) == {TEXTS[0], TEXTS[9]}


async def test_scope_and_state_hold_for_vectors_too(open_bank, found):
    bank = open_bank(embedder=Meaning())
    await bank.import_facts(
        [
            fact("the car is red", tags=("a",)),
            fact("the car is blue", tags=("b",)),
            fact("the car is green", state="invalidated", tags=("a",)),
        ]
    )
    await bank.reembed()
    scope = Scope(tags=TagFilter(("a",), "any_strict"))
    assert await found(bank, "automobile", scope=scope) == ["the car is red"]
    await bank.delete_fact(fact_id("the car is red"))
    assert await found(bank, "automobile", scope=scope) == []


async def test_nothing_to_do_without_an_embedder(bank):
    await bank.retain(document("d1", TEXTS[0]))
    assert await bank.reembed() == 0
    assert (await bank.vector_state()).identity is None


async def test_a_fact_that_stands_out_by_its_vector_is_found_with_more_confidence(open_bank):
    plain, near = open_bank("plain"), open_bank("near", embedder=Meaning(256))
    for bank in (plain, near):
        await bank.import_facts([fact("the car is in the red garage"), *map(fact, TEXTS)])
    await near.reembed()
    question = Query("where is the automobile garage")
    [alone, *_] = await plain.recall(question)
    [both, *_] = await near.recall(question)
    assert both.fact.text == alone.fact.text == "the car is in the red garage"
    assert both.parts["stands_out"] > 0
    assert both.score > alone.score


async def test_of_few_facts_none_stands_out(open_bank):
    bank = open_bank(embedder=Meaning())
    await bank.retain(document("d1", "the car is in the garage", "lunch is at noon"))
    [hit, *_] = await bank.recall(Query("automobile"))
    assert hit.parts["stands_out"] == 0
