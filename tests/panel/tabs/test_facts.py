"""The tab Facts: single facts are found, looked at and corrected."""

from __future__ import annotations

from typing import Any

import pytest

GATEWAY = "The API gateway listens on port 8443 behind nginx."
COFFEE = "The office coffee machine is descaled on Fridays."


@pytest.fixture
async def facts(screen: Any, learn: Any) -> Any:
    await learn(GATEWAY, document="one")
    await learn(COFFEE, document="two")
    await screen.go("Facts")
    await screen.press("enter")
    return screen


async def state(screen: Any, text: str) -> Any:
    page = await screen.view.runtime.bank.list_facts(state=None, limit=50)
    return next(fact for fact in page.facts if text in fact.text)


@pytest.mark.spec("pi/F-05")
async def test_search_narrows_the_list(facts: Any) -> None:
    await facts.press("/")
    await facts.type("gateway")
    await facts.press("enter")

    assert facts.body[0] == "valid facts with “gateway”  1 of 1"
    assert GATEWAY in facts.body[1]
    await facts.press("/", "ctrl+u")
    await facts.type("no such thing")
    await facts.press("enter")
    assert facts.body[1] == "no facts"


@pytest.mark.spec("pi/F-05")
async def test_a_fact_is_retired_with_a_reason_and_restored(facts: Any) -> None:
    await facts.press("/")
    await facts.type("coffee")
    await facts.press("enter", "x")
    await facts.type("the machine was sold")
    await facts.press("enter")

    assert facts.said.startswith("retired: ")
    assert facts.body[1] == "no facts"
    retired = await state(facts, "coffee")
    assert (retired.state, retired.reason) == ("invalidated", "the machine was sold")
    await facts.press("s", "enter")
    assert "facts (invalidated)" in facts.body[0]
    assert "why: the machine was sold" in facts.text
    await facts.press("u")
    assert facts.said.startswith("restored: ")
    assert (await state(facts, "coffee")).state == "valid"


@pytest.mark.spec("pi/F-05")
async def test_pin_and_unpin(facts: Any) -> None:
    await facts.press("p")
    assert "▪" in facts.body[1]
    await facts.press("x", "enter")
    assert (await state(facts, "coffee")).state == "valid"
    assert "pinned" in facts.said
    await facts.press("p")
    assert "▪" not in facts.body[1]


@pytest.mark.spec("pi/F-05")
async def test_a_text_goes_through_the_editor_and_the_sanitiser(facts: Any) -> None:
    secret = "".join(["sk-", "proj-", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4"])
    await facts.press("e")
    assert facts.panel.edit.text == COFFEE
    await facts.press("tab", "q")
    assert facts.panel.tab.title == "Facts"

    await facts.panel.edited(f"The coffee machine\nis gone, key {secret}")
    await facts.done()
    changed = await state(facts, "coffee")
    assert changed.text.startswith("The coffee machine is gone, key ")
    assert secret not in changed.text


@pytest.mark.parametrize("text", [None, "", "  \n", COFFEE])
async def test_an_edit_without_a_change_is_none(facts: Any, text: str | None) -> None:
    await facts.press("e")
    await facts.panel.edited(text)
    await facts.done()

    assert facts.said == "nothing was changed"
    assert (await state(facts, "coffee")).text == COFFEE


async def test_a_read_only_bank_is_only_looked_at(facts: Any) -> None:
    facts.view.runtime.read_only = True
    for name in ("e", "x", "u", "p"):
        await facts.press(name)
        assert facts.said == "bank.read_only is set: facts are not changed"
    assert facts.panel.edit is None


async def test_details_name_the_id_and_where_it_is_from(facts: Any) -> None:
    await facts.press("enter")

    assert "id: shop:" in facts.text
    assert "document: two" in facts.text
    await facts.press("enter")
    assert "document: two" not in facts.text


async def test_the_list_grows_at_its_end(screen: Any, learn: Any) -> None:
    await learn(*[f"Fact number {n}." for n in range(130)])
    await screen.go("Facts")
    assert "100 of 130" in screen.body[0]
    await screen.press("enter", "end")
    await screen.done()

    assert "130 of 130" in screen.body[0]


async def test_trouble_with_the_bank_is_a_message(facts: Any) -> None:
    from hindsight_core.errors import BankError
    from hindsight_core.testing.memory_bank import FakeBank

    bank = FakeBank("shop")
    bank.failing = BankError("no route to the bank")
    facts.view.runtime.bank = bank
    await facts.press("p")

    assert facts.said == "no route to the bank"


async def test_a_fact_whose_file_is_gone_has_a_mark(screen: Any, learn: Any) -> None:
    await learn("Refunds are handled in src/pay/refund.py.", "No file is named here.")
    await screen.go("Facts")
    marked = next(line for line in screen.body if "Refunds" in line)
    assert "✗ [fact] Refunds" in marked
    assert "✗" not in next(line for line in screen.body if "No file" in line)
    await screen.press(*(("down",) if "Refunds" in screen.body[2] else ()), "enter")
    assert "gone: src/pay/refund.py" in screen.text
