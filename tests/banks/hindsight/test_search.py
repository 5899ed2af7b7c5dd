"""Recall with all its parameters, and what is checked again on this side."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from hindsight_core.banks.hindsight.search import cut
from hindsight_core.banks.hindsight.tags import allows, tag_fields
from hindsight_core.memory import Query, Scope, TagFilter
from hindsight_core.testing.tag_match import tags_match

A = TagFilter(("a",), "any_strict")
B = TagFilter(("b",), "all")
EMPTY = TagFilter(())


def hit(text, score, **fields):
    scores = {"final": score, "semantic": 0.4, "reranker": None, "keyword": None}
    return {"id": text, "text": text, "type": "world", "scores": scores, "metadata": {}, **fields}


@pytest.mark.spec("pi/H-06")
async def test_every_parameter_goes_over_the_wire(opened, server):
    bank = opened(
        recall={
            "prefer_observations": False,
            "min_scores": {"reranker": 0.9},
            "query_timestamp": "2026-01-20T00:00:00Z",
            "include_source_facts": True,
            "max_source_facts_tokens": 512,
        }
    )
    scope = Scope(kinds=("world", "observation"), tags=TagFilter(("a", "b"), "all_strict"))
    floors = {"semantic": 0.4, "words": 0.2}
    await bank.recall(
        Query("orders", scope=scope, max_tokens=800, budget="high", min_scores=floors)
    )
    assert server.bodies("POST memories/recall") == [
        {
            "query": "orders",
            "max_tokens": 800,
            "budget": "high",
            "prefer_observations": False,
            "tags": ["a", "b"],
            "tags_match": "all_strict",
            "types": ["world", "observation"],
            "min_scores": {"semantic": 0.4},
            "query_timestamp": "2026-01-20T00:00:00Z",
            "include": {"entities": None, "source_facts": {"max_tokens": 512}},
        }
    ]


@pytest.mark.spec("pi/H-22")
def test_a_query_is_cut_below_the_servers_500_tokens():
    # At worst a token is two and a half letters of prose, or less than one character of Chinese.
    assert len(cut("word " * 4000, 500)) <= 1250
    assert len(cut("漢" * 4000, 500)) <= 334
    assert cut("short", 500) == "short"


@pytest.mark.spec("pi/H-22")
async def test_a_query_still_too_long_is_cut_once_more(bank, server, refusal):
    detail = "Query too long: 610 tokens exceeds maximum of 500"
    server.answers["POST memories/recall"] = [refusal(400, detail), {"results": [hit("one", 1.0)]}]
    hits = await bank.recall(Query("x1/y2?" * 300))
    assert [one.fact.text for one in hits] == ["one"]
    first, second = (len(body["query"]) for body in server.bodies("POST memories/recall"))
    assert second < first / 2


async def test_a_query_without_a_letter_or_a_limit_asks_nothing(bank, server):
    assert await bank.recall(Query("???")) == []
    assert await bank.recall(Query("orders", limit=0)) == []
    assert server.requests == []


async def test_scores_are_between_0_and_1_in_order(bank, server):
    server.answers["POST memories/recall"] = {"results": [hit("one", 1.2), hit("two", 0.12)]}
    hits = await bank.recall(Query("orders"))
    assert [one.score for one in hits] == [1.0, pytest.approx(0.1)]
    assert hits[0].parts == {"final": 1.2, "semantic": 0.4}
    assert hits[0].id == "shop:one"
    assert len(await bank.recall(Query("orders", min_score=0.5))) == 1
    assert len(await bank.recall(Query("orders", limit=1))) == 1


async def test_a_server_without_scores_ranks_by_order(bank, server):
    server.answers["POST memories/recall"] = {"memories": ["one", "two"]}
    first, second = await bank.recall(Query("orders"))
    assert 1 >= first.score > second.score > 0


async def test_the_scope_holds_even_if_the_server_overlooks_it(bank, server):
    server.answers["POST memories/recall"] = {"results": [
        hit("src/app.py is old", 1.0, tags=["a"], mentioned_at="2026-01-01T00:00:00Z"),
        hit("src/app.py is new", 0.9, tags=["a"], mentioned_at="2026-03-01T00:00:00Z"),
        hit("src/app.py of others", 0.8, tags=["z"], mentioned_at="2026-03-01T00:00:00Z"),
        hit("no file", 0.7, tags=["a"], mentioned_at="2026-03-01T00:00:00Z"),
    ]}  # fmt: skip
    scope = Scope(tags=A, since=datetime(2026, 2, 1, tzinfo=UTC), file="src/app.py")
    hits = await bank.recall(Query("app", scope=scope))
    assert [one.fact.text for one in hits] == ["src/app.py is new"]
    # What is narrowed here needs more to choose from.
    assert server.bodies("POST memories/recall")[0]["max_tokens"] == 4 * 2048


@pytest.mark.parametrize(
    "scope", [Scope(kinds=("pitfall",)), Scope(document_id="d"), Scope(session_id="s")]
)
async def test_what_observations_do_not_have_is_asked_of_facts(bank, server, scope):
    await bank.recall(Query("orders", scope=scope))
    assert server.bodies("POST memories/recall")[0]["prefer_observations"] is False


async def test_hits_reached_over_links_are_completed_for_a_sessions_scope(bank, server):
    server.answers["POST memories/recall"] = {"results": [{**hit("f", 1.0), "metadata": None}]}
    server.answers["GET memories/*"] = {"id": "f", "text": "f", "metadata": {"session": "s1"}}
    assert len(await bank.recall(Query("f", scope=Scope(session_id="s1")))) == 1
    assert await bank.recall(Query("f", scope=Scope(session_id="s2"))) == []


@pytest.mark.spec("s1/S-TAG-1")
@pytest.mark.parametrize(
    ("wanted", "sent"),
    [
        (None, {}),
        (EMPTY, {}),
        (A, {"tags": ["a"], "tags_match": "any_strict"}),
        (TagFilter((), "exact"), {"tags": [], "tags_match": "exact"}),
        (
            TagFilter(all_of=(A, B, EMPTY)),
            {"tag_groups": [{"and": [
                {"tags": ["a"], "match": "any_strict"}, {"tags": ["b"], "match": "all"},
            ]}]},
        ),
        (TagFilter(any_of=(A, EMPTY)), {}),
        (TagFilter(none_of=(B,)), {"tag_groups": [{"not": {"tags": ["b"], "match": "all"}}]}),
        (TagFilter(none_of=(EMPTY,)), None),
    ],
)  # fmt: skip
def test_tag_conditions_as_the_server_takes_them(wanted, sent):
    # In a group the server takes a leaf without tags for "no tags" or "some tags".
    assert tag_fields(wanted) == sent


@pytest.mark.parametrize("tags", [(), ("a",), ("b",), ("a", "b")])
def test_the_check_here_means_what_every_bank_means(tags):
    leaves = [A, B, EMPTY, TagFilter((), "exact"), TagFilter(("a", "b"), "exact")]
    groups = [TagFilter(all_of=(A, B)), TagFilter(any_of=(A, B)), TagFilter(none_of=(A, B))]
    for wanted in leaves + groups:
        assert allows(wanted, tags) == tags_match(wanted, tags)
