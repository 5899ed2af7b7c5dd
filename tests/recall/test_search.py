from __future__ import annotations

import pytest

from hindsight_core.errors import BankError, ConfigError
from hindsight_core.hookspecs import hookimpl
from hindsight_core.memory import Scope
from hindsight_core.recall.wire import hit_wire


async def test_best_first_each_text_once_and_no_model(kit, fact):
    made = kit(script={})
    texts = ("the cart", "cart ttl is 30", "- CART  ttl is 30")
    made.bank.facts = {str(n): fact(text, id=str(n)) for n, text in enumerate(texts)}
    hits = await made.runner.search("cart ttl", limit=5)
    assert [hit.fact.text for hit in hits] == ["cart ttl is 30", "the cart"]
    assert made.model.requests == []


async def test_limit(kit):
    made = kit(*(f"cart {n}" for n in range(30)))
    assert len(await made.runner.search("cart", limit=7)) == 7


async def test_works_while_automatic_recall_is_off(kit):
    made = kit("cart ttl", recall={"enabled": False})
    assert len(await made.runner.search("cart")) == 1


async def test_scope(kit, fact):
    made = kit()
    made.bank.facts = {
        "1": fact("cart one", id="1", kind="decision"),
        "2": fact("cart two", id="2"),
    }
    hits = await made.runner.search("cart", scope=Scope(kinds=("decision",)))
    assert [hit.id for hit in hits] == ["shop:1"]


@pytest.mark.parametrize("text", ["", "?!"])
async def test_nothing_to_look_for_is_empty_and_asks_no_bank(kit, text):
    made = kit("cart")
    assert await made.runner.search(text) == []
    assert made.bank.calls == []


@pytest.mark.spec("br/BR-35")
async def test_a_bank_that_is_down_raises(kit):
    made = kit("cart")
    made.bank.failing = BankError("connection refused")
    with pytest.raises(BankError, match="connection refused"):
        await made.runner.search("cart")


async def test_one_bank_of_two_that_answers_is_enough(kit):
    made = kit(banks={"shop": ["cart one"], "me": ["cart two"]})
    made.banks["me"].failing = BankError("down")
    assert [hit.id.split(":")[0] for hit in await made.runner.search("cart")] == ["shop"]


@pytest.mark.spec("br/BR-13")
async def test_only_the_named_bank(kit):
    made = kit(banks={"shop": ["auth.py uses JWT"], "blog": ["auth.py uses cookies"]})
    hits = await made.runner.search("auth.py", bank="shop")
    assert [hit.fact.text for hit in hits] == ["auth.py uses JWT"]
    with pytest.raises(ConfigError, match="shop, blog"):
        await made.runner.search("auth.py", bank="nope")


async def test_plugins_mask_what_the_tool_shows(kit):
    class Masks:
        @hookimpl
        def hindsight_filter_hits(self, turn, query, hits):
            return [hit for hit in hits if "hidden" not in hit.fact.text]

    made = kit("cart hidden", "cart open", plugins=[Masks()])
    assert [hit.fact.text for hit in await made.runner.search("cart")] == ["cart open"]


async def test_texts_are_cleaned_and_bounded(kit):
    made = kit("cart\n\x00" + "x" * 5000, security={"max_fact_characters": 100})
    text = (await made.runner.search("cart"))[0].fact.text
    assert "\n" not in text and "\x00" not in text and len(text) <= 100


def test_wire_form(hit):
    assert hit_wire(hit("cart", id="f1", score=0.51239, kind="decision")) == {
        "id": "shop:f1",
        "text": "cart",
        "score": 0.5124,
        "bank": "shop",
        "kind": "decision",
        "timestamp": "2026-03-01T09:30:00+00:00",
    }
