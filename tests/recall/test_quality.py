"""The quality pass over what one bank gave."""

from __future__ import annotations

import pytest

from hindsight_core.recall.quality import quality_pass

GOOD = "The queue prefetch is 50"
BLOCK = '<hindsight-memory kind="recall">\nThe queue prefetch is 20\n</hindsight-memory>'


def texts(passed):
    return [hit.fact.text for hit in passed.kept]


@pytest.mark.spec("s1/S-QP-1")
def test_blanks_blocks_and_repetitions_are_dropped_with_their_reason(hit):
    snapshot = "See .pi/hindsight/last-recall.json for what was recalled"
    found = [hit(text) for text in (
        GOOD, "   ", "  THE  QUEUE prefetch is 50 ", BLOCK, snapshot, "Redis keeps carts",
    )]  # fmt: skip
    passed = quality_pass(found, {})
    assert texts(passed) == [GOOD, "Redis keeps carts"]
    assert passed.counts == {
        "blank-memory": 1,
        "duplicate-memory": 1,
        "recall-contamination": 2,
    }


@pytest.mark.spec("s1/S-QP-1")
def test_floors_apply_to_the_scores_that_are_there(hit):
    found = [
        hit("both high", parts={"semantic": 0.9, "reranker": 0.5}),
        hit("semantic low", parts={"semantic": 0.6, "reranker": 0.5}),
        hit("reranker low", parts={"semantic": 0.9, "reranker": 0.1}),
        hit("no scores"),
        hit("no reranker", parts={"semantic": 0.9}),
    ]
    passed = quality_pass(found, {"semantic": 0.65, "reranker": 0.2})
    assert texts(passed) == ["both high", "no scores", "no reranker"]
    assert passed.counts == {"below-score-floor": 2}
    equal = quality_pass([hit("equal", parts={"semantic": 0.65})], {"semantic": 0.65})
    assert texts(equal) == ["equal"]


@pytest.mark.spec("s1/S-QP-1")
def test_only_what_is_kept_counts_as_seen(hit):
    low = hit("Redis keeps carts", parts={"final": 0.1})
    high = hit("redis keeps carts", parts={"final": 0.9})
    assert texts(quality_pass([low, high], {"final": 0.5})) == ["redis keeps carts"]


def test_the_score_is_the_final_part_where_a_bank_names_none(hit):
    found = [hit("a", score=0.9), hit("b", score=0.4), hit("c", score=1.0, parts={"final": 0.2})]
    assert texts(quality_pass(found, {"final": 0.5})) == ["a"]


@pytest.mark.spec("s1/S-QP-1")
async def test_a_turn_says_why_each_fact_was_left_out(kit, hit):
    made = kit("The queue prefetch is 50", "The queue prefetch of old is 20", recall={
        "mode": "plain", "min_scores": {"semantic": 0.5},
    })  # fmt: skip
    bank = made.bank

    async def recall(query):
        return [
            hit("The queue prefetch is 50", parts={"semantic": 0.9}),
            hit("The queue prefetch of old is 20", parts={"semantic": 0.1}),
        ]

    bank.recall = recall
    outcome = await made.run("what is the queue prefetch?")
    assert [h.fact.text for h in outcome.hits] == ["The queue prefetch is 50"]
    [entry] = made.log.entries
    left = [h for q in entry["queries"] for h in q["hits"] if h["outcome"] != "injected"]
    assert [h["outcome"] for h in left] == ["below-score-floor"]
