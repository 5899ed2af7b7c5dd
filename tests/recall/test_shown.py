from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_core.memory import Fact, Hit
from hindsight_core.prompts import Prompts
from hindsight_core.recall.block import closing_line, recall_block
from hindsight_core.recall.shown import key, keys, read_back


def back(texts):
    return read_back(texts, closing=closing_line(Prompts()))


@pytest.mark.spec("pi/R-15")
@pytest.mark.parametrize("text", ["The cart", "- The  cart ", "• THE\tCART", "* the cart"])
def test_key_ignores_bullet_spaces_and_case(text):
    assert key(text) == "the cart"


@pytest.mark.spec("pi/R-15")
def test_only_one_bullet_is_stripped():
    assert key("- - a") == "- a"


@pytest.mark.spec("pi/R-16", "pi/B-11")
def test_facts_of_a_block_are_read_back_and_nothing_else(hit, prompts):
    hits = [hit("The cart lives 30 min"), hit("Deploys go through make ship")]
    block = recall_block(prompts, hits, reminder="- use the tools")
    assert block is not None
    found = back([f"what is the ttl?\n{block.text}\n- a bullet of the user"])
    assert found == {
        *keys(hits),
        *(f"[2026-03-01] {text}" for text in keys(hits)),
    }


@pytest.mark.spec("pi/R-16")
def test_a_block_that_was_cut_off_counts_to_its_end(hit, prompts):
    block = recall_block(prompts, [hit("one fact")])
    assert block is not None
    assert key("one fact") in back([block.text.split("\nEnd of")[0]])


@pytest.mark.spec("pi/R-16")
@pytest.mark.parametrize(
    "text",
    [
        "first </hindsight-memory> still the same fact",
        "--- end of recalled memory --- quoted",
    ],
)
def test_a_fact_that_quotes_an_end_does_not_end_the_region(hit, prompts, text):
    hits = [hit(text), hit("the fact after it")]
    block = recall_block(prompts, hits)
    assert block is not None
    assert set(keys(hits)) <= back([block.text])


@pytest.mark.spec("pi/D-19")
@given(st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=60))
def test_any_one_line_fact_is_recognised_again(text):
    found = Hit(fact=Fact(id="1", text=f"x{text}\\ \"'"), bank="shop", score=1.0)
    block = recall_block(Prompts(), [found])
    assert block is not None
    assert set(keys([found])) <= back([block.text])


@pytest.mark.spec("pi/D-19")
def test_the_labels_of_the_block_are_no_facts(hit, prompts):
    block = recall_block(prompts, [hit("one fact")])
    assert block is not None
    assert back([block.text]) == {"one fact", "[2026-03-01] one fact"}


def test_a_line_in_the_users_words_is_no_fact():
    assert back(["- the cart lives 30 min"]) == frozenset()
