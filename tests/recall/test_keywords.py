from __future__ import annotations

import pytest

from hindsight_core.recall.keywords import has_substance, keyword_queries, terms

SENTENCE = "Please fix the src/recall.ts judge and the config loader for the new bank, thanks"


@pytest.mark.spec("pi/R-08")
def test_groups_of_terms_in_their_order():
    assert keyword_queries(SENTENCE, limit=3) == [
        "please fix src/recall.ts",
        "judge config loader",
        "new bank thanks",
    ]


@pytest.mark.spec("pi/R-08")
@pytest.mark.parametrize(("text", "expected"), [("a b c", []), ("continue", ["continue"])])
def test_short_prompts(text, expected):
    assert keyword_queries(text, limit=3) == expected


@pytest.mark.spec("pi/R-08")
def test_at_least_three_terms_a_group():
    assert keyword_queries("alpha beta gamma delta", limit=5) == ["alpha beta gamma", "delta"]


@pytest.mark.spec("pi/R-08")
def test_groups_fill_the_limit_evenly():
    words = " ".join(f"word{n}" for n in range(20))
    groups = keyword_queries(words, limit=3)
    assert [len(group.split()) for group in groups] == [7, 7, 6]


@pytest.mark.spec("pi/R-08")
def test_at_most_forty_terms_without_repeats():
    words = " ".join(f"word{n % 60}" for n in range(200))
    assert terms(words) == [f"word{n}" for n in range(40)]


@pytest.mark.spec("pi/R-08")
def test_identifiers_keep_their_joints_but_not_loose_punctuation():
    assert terms("See ./src/a-b_c.py/, (CART_TTL) -- and x.y!") == [
        "see",
        "src/a-b_c.py",
        "cart_ttl",
        "x.y",
    ]


@pytest.mark.spec("pi/R-08")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Как настроить для нас кэш корзины?", ["настроить", "кэш", "корзины"]),
        ("Wie ist die Frist für den Warenkorb?", ["frist", "warenkorb"]),
        ("订单超时 timeout", ["订单超时", "timeout"]),
        ("यह सेवा", ["सेवा"]),
    ],
)
def test_other_languages(text, expected):
    assert terms(text) == expected


def test_a_long_run_without_spaces_is_cut_into_pieces():
    assert [len(term) for term in terms("漢" * 7 + "字" * 7)] == [8, 6]


@pytest.mark.parametrize(
    ("text", "expected"), [("", False), (" \n", False), ("?!…", False), ("ok", True), ("订", True)]
)
def test_substance_is_a_letter_or_digit(text, expected):
    assert has_substance(text) is expected
