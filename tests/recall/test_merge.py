from __future__ import annotations

import pytest

from hindsight_core.memory import Query
from hindsight_core.recall.merge import CANDIDATES, distinct, merge
from hindsight_core.recall.shown import key
from hindsight_core.turns import Searched, Verdict


@pytest.fixture
def searched(hit):
    def make(score, *texts, keep=None):
        hits = tuple(hit(text) for text in texts)
        kept = hits if keep is None else tuple(h for h in hits if h.fact.text in keep)
        return Searched(Query("q"), len(hits), hits, Verdict(score, kept))

    return make


def texts(merged):
    return [hit.fact.text for hit in merged.hits]


@pytest.mark.spec("pi/R-14")
def test_best_query_first_equal_ones_in_their_order(searched):
    queries = [searched(50, "a"), searched(90, "b"), searched(50, "c")]
    assert texts(merge(queries, shown=frozenset(), cap=8)) == ["b", "a", "c"]


@pytest.mark.spec("pi/R-14")
@pytest.mark.parametrize(("score", "kept"), [(24, []), (25, ["a"])])
def test_a_query_under_25_is_dropped_whole(searched, score, kept):
    assert texts(merge([searched(score, "a")], shown=frozenset(), cap=8)) == kept


@pytest.mark.spec("pi/R-14")
def test_a_text_is_taken_once_from_the_better_query(searched):
    queries = [searched(60, "- The  Cart lives", "b"), searched(80, "the cart lives")]
    merged = merge(queries, shown=frozenset(), cap=8)
    assert texts(merged) == ["the cart lives", "b"]


@pytest.mark.spec("pi/R-14", "pi/R-16")
def test_shown_facts_are_left_out_and_counted(searched):
    merged = merge([searched(60, "a", "b")], shown=frozenset({key("A")}), cap=8)
    assert (texts(merged), merged.skipped_shown) == (["b"], 1)


@pytest.mark.spec("pi/R-14", "pi/R-18")
def test_the_cap_cuts_and_is_counted(searched):
    merged = merge([searched(60, *"abcde")], shown=frozenset(), cap=2)
    assert (texts(merged), merged.merged, merged.skipped_filtered) == (["a", "b"], 5, 3)


@pytest.mark.spec("pi/R-10")
def test_candidates_are_distinct_and_at_most_24(hit):
    hits = [hit("same"), hit("- SAME"), *(hit(f"fact {n}") for n in range(40))]
    found = distinct(hits)
    assert len(found) == CANDIDATES == 24
    assert [h.fact.text for h in found[:2]] == ["same", "fact 0"]


@pytest.mark.spec("br/BR-32")
def test_every_hit_has_a_fate(searched):
    queries = [
        searched(80, "a", "b", "c", "d", keep=("a", "b", "c")),
        searched(60, "a"),
        searched(10, "e"),
    ]
    merged = merge(queries, shown=frozenset({"b"}), cap=1)
    assert [[fate for _, fate in rows] for rows in merged.fates] == [
        ["injected", "shown", "cut", "dropped"],
        ["duplicate"],
        ["weak-query"],
    ]
