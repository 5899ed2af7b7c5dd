"""The fuzzy finder's matching."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_core.panel.fuzzy import best, score

TEXTS = [
    "The API gateway listens on port 8443 behind nginx.",
    "This project uses pnpm and never npm.",
    "The office coffee machine is descaled on Fridays.",
]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("gateway", 0),
        ("GATEWAY port", 0),
        ("port gateway", 0),
        ("pnpm", 1),
        ("cofee", 2),
        ("descld", 2),
        ("fri off", 2),
    ],
)
def test_words_in_any_order_and_letters_with_gaps(query, found):
    assert best(query, TEXTS, text=str)[0] == TEXTS[found]


def test_every_word_must_match():
    assert best("gateway coffee", TEXTS, text=str) == []
    assert score("zzz", TEXTS[0]) is None


def test_letters_far_apart_are_a_coincidence():
    assert score("tsx", "The API gateway listens on port 8443 behind nginx.") is None


def test_the_word_itself_stands_before_its_letters():
    assert best("npm", ["n-p-m", "npm", "pnpm"], text=str)[0] == "npm"


def test_nothing_typed_keeps_all_in_their_order():
    assert best("  ", TEXTS, text=str) == TEXTS


@given(st.text(max_size=30), st.text(max_size=60))
def test_any_text_can_be_searched_for_anything(query, text):
    points = score(query, text)
    assert points is None or points >= 0
    if query.split() and query.split()[0].casefold() in text.casefold():
        assert score(query.split()[0], text) is not None
