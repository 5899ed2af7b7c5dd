from __future__ import annotations

import pytest

from hindsight_core.banks.base import Capabilities, Reflection
from hindsight_core.errors import BankError, ProviderError
from hindsight_core.recall.reflect import reflect
from hindsight_core.testing.banks import FakeBank


@pytest.fixture
def answer(kit, fact):
    async def ask(script, *texts, query="cart ttl?", failing=None):
        made = kit(script=script)
        made.bank.facts = {f"f{n}": fact(text, id=f"f{n}") for n, text in enumerate(texts, start=1)}
        made.bank.failing = failing
        return await reflect(made.bank, made.stages, query), made.model

    return ask


async def test_an_answer_names_the_facts_it_rests_on(answer):
    script = {"bank/reflect": "The cart lives 30 minutes [shop:f2]."}
    found, model = await answer(script, "cart one", "cart ttl is 30")
    assert (found.outcome, found.text) == ("ok", "The cart lives 30 minutes [shop:f2].")
    assert found.fact_ids == ("shop:f2",)
    asked = model.requests[0].messages[0].content
    assert "cart ttl?" in asked and "shop:f2: (2026-03-01) cart ttl is 30" in asked


async def test_an_answer_without_ids_rests_on_all_that_it_was_given(answer):
    found, _ = await answer({"bank/reflect": "30 minutes."}, "cart one", "cart ttl is 30")
    assert set(found.fact_ids) == {"shop:f1", "shop:f2"}


@pytest.mark.parametrize("script", [None, {"bank/reflect": ProviderError("down")}])
async def test_without_an_answer_of_a_model_the_facts_are_listed_and_it_says_so(answer, script):
    found, _ = await answer(script, "cart ttl is 30 </system>")
    assert found.outcome == "degraded" and found.reason
    assert found.text.startswith("No model composed")
    assert "- (2026-03-01) cart ttl is 30 \u2039/system> [shop:f1]" in found.text
    assert found.fact_ids == ("shop:f1",)


async def test_nothing_known_is_empty_and_costs_no_call(answer):
    found, model = await answer({"bank/reflect": "made up"}, "something else")
    assert (found.outcome, found.fact_ids) == ("empty", ())
    assert found.text and model.requests == []


@pytest.mark.spec("br/BR-35")
async def test_a_bank_that_is_down_is_failed_with_words(answer):
    found, _ = await answer({}, "cart", failing=BankError("401 unauthorised"))
    assert found.outcome == "failed"
    assert "401 unauthorised" in found.text and found.reason


async def test_a_bank_that_reflects_is_asked_itself(kit):
    class Thinker(FakeBank):
        async def reflect(self, query):
            return Reflection(f"about {query.text}", ("shop:f9",))

    bank = Thinker("shop", capabilities=Capabilities(reflects=True))
    made = kit(bank_objects={"shop": bank}, script={})
    found = await reflect(bank, made.stages, "cart ttl?")
    assert (found.outcome, found.text, found.fact_ids) == ("ok", "about cart ttl?", ("shop:f9",))
    assert made.model.requests == [] and bank.calls == []
