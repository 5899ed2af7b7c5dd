from __future__ import annotations

import pytest

from hindsight_core.memory import Query
from hindsight_core.recall.floor import evident


def texts(hits):
    return [hit.fact.text for hit in hits]


@pytest.mark.spec("br/BR-32")
@pytest.mark.parametrize(
    ("query", "text", "shown"),
    [
        ("why does the importer give up?", "The importer retries 5 times", True),
        ("write a haiku about rain", "Write tests before code", False),
        ("uplinkRetryLimit value", "UPLINK_RETRY_LIMIT is 5", True),
        ("CART_TTL", "CART_TTL is 30 minutes", True),
        ("fix the flaky checkout test in the payment module", "checkout is in Go", False),
        ("Frist des Warenkorbs", "Der Warenkorb lebt 30 Minuten", True),
        ("thanks", "thanks to the new cache it is fast", False),
    ],
)
def test_words_that_name_something_are_evidence(hit, query, text, shown):
    assert bool(evident(Query(query), [hit(text)])) is shown


def test_what_the_bank_says_about_coverage_counts(hit):
    covered = {"words": 5.0, "coverage": 0.9}
    hits = [
        hit("Der Kasten ist voll", parts=covered),
        hit("box", parts={"words": 5.0, "coverage": 0.1}),
    ]
    assert texts(evident(Query("is the box full"), hits)) == ["Der Kasten ist voll"]


def test_what_is_far_behind_the_best_is_left_out(hit):
    hits = [
        hit("importer retries", parts={"words": 10.0, "coverage": 1.0}),
        hit("importer", parts={"words": 6.9, "coverage": 0.5}),
    ]
    assert texts(evident(Query("importer retries"), hits)) == ["importer retries"]


def test_a_follow_up_is_judged_by_its_context(hit):
    query = Query("why?", context="the importer retries 5 times")
    hits = [hit("importer retries are capped"), hit("logo colours")]
    assert texts(evident(query, hits)) == ["importer retries are capped"]


def test_close_vectors_are_evidence(hit):
    hits = [hit("a", parts={"vectors": 0.9}), hit("b", parts={"vectors": 0.5})]
    assert texts(evident(Query("something else"), hits)) == ["a"]


def test_a_calibrated_score_is_taken_at_its_word(hit):
    parts = {"words": 5.0, "coverage": 0.1, "names_missing": 0.0, "superseded": 0.0}
    hits = [hit("quite other words", score=0.6, parts=parts), hit("box", score=0.4, parts=parts)]
    assert texts(evident(Query("is it full"), hits)) == ["quite other words"]


def test_what_a_later_fact_says_anew_is_left_out(hit):
    now = {"words": 5.0, "names_missing": 0.0, "superseded": 0.0}
    old = {**now, "superseded": 1.0}
    current = hit("prefetch is 50", score=0.9, parts=now)
    hits = [current, hit("prefetch is 20", score=0.9, parts=old)]
    assert texts(evident(Query("prefetch"), hits)) == ["prefetch is 50"]


def test_most_of_the_words_are_enough_in_a_small_bank(hit):
    parts = {"words": 1.0, "names_missing": 0.0, "superseded": 0.0}
    hits = [hit("Holds expire after 7 minutes", score=0.28, parts=parts)]
    assert texts(evident(Query("how long do holds expire"), hits)) == texts(hits)


SURE = {"words": 5.0, "coverage": 0.1, "names_missing": 0.0, "superseded": 0.0}


def test_what_is_near_a_sure_fact_follows_it(hit):
    hits = [hit("a", score=0.6, parts=SURE), hit("b", score=0.46, parts=SURE)]
    hits.append(hit("c", score=0.44, parts=SURE))
    assert texts(evident(Query("something else"), hits)) == ["a", "b"]


def test_nearness_to_the_best_is_the_scores_and_not_that_of_words(hit):
    no_word = {**SURE, "words": 0.0, "vectors": 0.9}
    hits = [hit("a", score=0.9, parts=no_word), hit("b", score=0.8, parts=SURE)]
    assert texts(evident(Query("something else"), hits)) == ["a", "b"]


def test_one_banks_sureness_shows_nothing_of_another(hit):
    hits = [hit("a", score=0.6, parts=SURE), hit("b", score=0.48, parts=SURE, bank="other")]
    assert texts(evident(Query("something else"), hits)) == ["a"]


def test_without_a_sure_fact_nothing_is_shown(hit):
    hits = [hit("a", score=0.49, parts=SURE), hit("b", score=0.48, parts=SURE)]
    assert not evident(Query("something else"), hits)
