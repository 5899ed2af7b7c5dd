"""``hindsight_recall`` with tag groups, floors and what only a server understands."""

from __future__ import annotations

from typing import Any

import pytest

ABOUT = "the gateway port"


@pytest.fixture
def tagged(agent: Any) -> Any:
    """Facts about one thing, each under tags of its own."""
    made = agent(scope={"mode": "isolated-bank"}, recall={"types": []})
    for word, tags in {"alpha": ["a"], "beta": ["b"], "both": ["a", "b"], "none": []}.items():
        made.memory.remember(f"The gateway port of {word} is 8443.", tags=tags)
    return made


def found(agent: Any, **arguments: object) -> set[str]:
    result = agent.call("recall", query=ABOUT, **arguments)
    assert result["isError"] is False, result
    return {hit["text"].split()[4] for hit in result["details"]["hits"]}


@pytest.mark.spec("s1/S-TOOL-2", "s1/S-TAG-1", "s1/S-TAG-4")
@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({}, {"alpha", "beta", "both", "none"}),
        ({"tags": ["a"]}, {"alpha", "both"}),
        ({"tags": ["a", "b"], "tagsMatch": "all_strict"}, {"both"}),
        ({"tagGroups": [{"not": {"tags": ["b"]}}]}, {"alpha", "none"}),
        ({"tags": ["a"], "tagGroups": [{"not": {"tags": ["b"]}}]}, {"alpha"}),
        ({"tagGroups": [{"or": [{"tags": ["a"]}, {"tags": ["b"]}]}]}, {"alpha", "beta", "both"}),
        ({"tagGroups": [{"tags": ["a"]}, {"tags": ["b"]}]}, {"both"}),
        ({"tagGroups": [{"and": [{"tags": ["a"]}, {"not": {"tags": ["b"]}}]}]}, {"alpha"}),
    ],
)
def test_tags_and_groups(tagged: Any, asked: dict[str, object], expected: set[str]) -> None:
    assert found(tagged, **asked) == expected


@pytest.mark.spec("s1/S-TAG-4")
def test_exact_is_over_the_tags_of_the_scope_and_the_callers_together(served: Any, server: Any):
    agent = served(scope={"project_id": "shop"})
    agent.call("recall", query=ABOUT, tags=["deploy"], tagsMatch="exact")
    agent.call(
        "recall", query=ABOUT, tags=["deploy"], tagGroups=[{"tags": ["x"], "match": "exact"}]
    )
    exact, grouped = server.bodies("/memories/recall")

    scope = agent.told("scope")["banks"][0]["sees"]
    assert scope["tags"][0] == "project:shop"
    assert exact["tags"] == [*scope["tags"], "deploy"]
    assert exact["tags_match"] == "exact"
    assert grouped["tag_groups"] == [
        {
            "and": [
                {
                    "and": [
                        scope,
                        {"tags": ["deploy"], "match": "any_strict"},
                    ]
                },
                {"tags": ["x"], "match": "exact"},
            ]
        }
    ]


@pytest.mark.spec("s1/S-TOOL-2")
def test_what_only_a_server_understands_reaches_it(served: Any, server: Any) -> None:
    agent = served(recall={"min_scores": {"semantic": 0.1}})
    agent.call("recall", query=ABOUT)
    agent.call(
        "recall",
        query=ABOUT,
        types=["world"],
        minScores={"semantic": 0.65},
        budget="high",
        maxTokens=300,
        preferObservations=False,
        queryTimestamp="2026-03-01T10:00:00+00:00",
        includeSourceFacts=True,
        maxSourceFactsTokens=77,
    )
    plain, full = server.bodies("/memories/recall")

    # Floors of the settings are ours and never sent; those of the tool go to the server (S-QP-1).
    assert "min_scores" not in plain and "source_facts" not in plain["include"]
    assert full["min_scores"] == {"semantic": 0.65}
    assert (full["types"], full["budget"], full["max_tokens"]) == (["world"], "high", 300)
    assert full["prefer_observations"] is False
    assert full["query_timestamp"] == "2026-03-01T10:00:00+00:00"
    assert full["include"]["source_facts"] == {"max_tokens": 77}


@pytest.mark.parametrize(
    "wrong",
    [
        {"tagsMatch": "some"},
        {"tagGroups": {"tags": ["a"]}},
        {"tagGroups": ["a"]},
        {"tagGroups": [{"or": []}]},
        {"tagGroups": [{"tags": ["a"], "match": "some"}]},
        {"tags": "a"},
        {"minScores": {"semantic": "high"}},
        {"minScores": [1]},
        {"budget": "huge"},
        {"maxTokens": 0},
        {"includeSourceFacts": "yes"},
        {"bank": "nobodys"},
    ],
)
def test_a_wrong_argument_is_an_answer_that_says_so(tagged: Any, wrong: dict[str, Any]) -> None:
    result = tagged.call("recall", query=ABOUT, **wrong)
    assert result["isError"] is True
    named = next(iter(wrong))
    assert named in result["content"] or "group" in result["content"]


def test_groups_are_not_nested_without_end(tagged: Any) -> None:
    group: dict[str, Any] = {"tags": ["a"]}
    for _ in range(20):
        group = {"not": group}
    assert "deeper" in tagged.call("recall", query=ABOUT, tagGroups=[group])["content"]


def test_a_named_bank_is_searched_within_its_own_scope(agent: Any) -> None:
    made = agent(
        bank={"entries": [{"id": "team", "role": "team"}]},
        scope={"mode": "isolated-bank"},
        recall={"types": []},
    )
    team = made.memory.runtime.memorizer_of("team")
    made.memory.run(team.retain_note("The gateway port of team is 1."))
    made.memory.remember("The gateway port of own is 2.")
    assert found(made) == {"own"}
    assert found(made, bank="team") == {"team"}
