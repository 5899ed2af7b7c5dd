from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindsight_core.banks.sqlite.glossary import dictionary, han_words, translations
from hindsight_core.banks.sqlite.lexicon import edits, likeness, rarity
from hindsight_core.banks.sqlite.names import proper_names
from hindsight_core.banks.sqlite.stems import Stemmer
from hindsight_core.banks.sqlite.stopwords import without_stop_words
from hindsight_core.banks.sqlite.words import split


@pytest.mark.parametrize(
    ("text", "body", "names"),
    [
        ("uplinkRetryLimit", "uplink retry limit", "uplinkretrylimit"),
        ("retry_limit", "retry limit", "retrylimit"),
        ("CART_TTL", "cart ttl", "cartttl"),
        ("src/app/task_queue.py", "src app task queue py", "taskqueuepy"),
        ("HTTPServer v2", "http server v2", "httpserver"),
        ("LoRaWAN on iOS", "lorawan on ios", ""),
        ("W25Q64 at 2,000 Hz", "w25q64 at 2000 hz", ""),
        ("Anna's in-memory cache", "anna in memory cache", "inmemory"),
        ("配置文件 ok", "配置 置文 文件 ok", ""),
        ("Größe", "grösse", ""),
    ],
)
def test_names_are_split_and_joined(text, body, names):
    found = split(text)
    assert found.body == tuple(body.split())
    assert found.names == tuple(names.split())


@settings(deadline=None)
@given(st.text(max_size=80))
def test_any_text_gives_words_that_the_index_takes_for_one_each(text):
    stemmer = Stemmer()
    found = split(text)
    assert len(stemmer.stems(found.body)) == len(found.body)
    assert not any(character.isspace() for word in found.body for character in word)
    stemmer.close()


def test_stems_are_those_of_the_index():
    stemmer = Stemmer()
    assert stemmer.stems(["connections", "connected", "agreed"]) == ["connect", "connect", "agre"]
    assert stemmer.surface("connect") in ("connections", "connected")
    assert stemmer.stem(stemmer.surface("agre")) == "agre"
    stemmer.close()


@pytest.mark.parametrize(
    ("text", "words", "languages"),
    [
        ("How do we keep the old son of the king?", "keep old son king", ("en",)),
        ("Wie lange werden die Logs aufbewahrt?", "lange logs aufbewahrt", ("de",)),
        ("где хранятся бэкапы?", "хранятся бэкапы", ("ru",)),
        ("what is it?", "what is it", ("en",)),
    ],
)
def test_function_words_are_dropped_by_language(text, words, languages):
    asked = without_stop_words(text)
    assert asked.words == tuple(words.split())
    assert asked.languages == languages


def test_words_beside_each_other_may_be_one_name():
    assert "cartttl" in without_stop_words("the cart ttl").names


@pytest.mark.parametrize(
    ("asked", "known", "alike"),
    [
        ("timout", "timeout", True),
        ("watchdgo", "watchdog", True),
        ("prot", "port", True),
        ("heap", "heal", False),
        ("chat", "that", False),
        ("auth", "authentication", True),
        ("playstation", "play", False),
    ],
)
def test_only_slips_of_the_keyboard_are_corrected(asked, known, alike):
    assert (likeness(asked, known) > 0) is alike


@settings(deadline=None)
@given(st.text("abc", max_size=6), st.text("abc", max_size=6))
def test_edits_are_symmetric_and_zero_only_for_the_same(one, other):
    assert edits(one, other) == edits(other, one)
    assert (edits(one, other) == 0) is (one == other)


def test_a_rare_word_weighs_more_and_none_is_negative():
    assert rarity(1, 100) > rarity(50, 100) > rarity(100, 100) >= 0
    assert rarity(300, 100) >= 0


def test_foreign_words_in_any_form():
    assert "queue" in translations("warteschlangen", ("de",))
    assert set(translations("datenbankgröße".casefold(), ("de",))) >= {"database", "size"}
    assert "retention" in translations("хранения", ("ru",))
    assert translations("serverless", ("de",), exact=True) == ()
    assert dictionary("xx") is None
    assert translations("word", ("xx",)) == ()


def test_chinese_runs_are_cut_into_known_words():
    found, rest = han_words("怎么配置重试 CART_TTL")
    assert "retry" in found["重试"]
    assert "config" in found["配置"]
    assert "CART_TTL" in rest
    assert "配置" not in rest


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("which Jenkins plugins do we use?", [("jenkins",)]),
        ("Which plugins? Where are they?", []),
        ("what is CART_TTL", [("cartttl",)]),
        ("fix the retry in ostrapay.py", [("ostrapaypy", "ostrapay")]),
        ("is 8s or 20ms right", []),
    ],
)
def test_names_that_an_answer_must_be_about(text, names):
    assert proper_names(text, ("en",)) == names


def test_german_nouns_are_no_names():
    assert proper_names("wo liegt die Datei", ("de",)) == []
