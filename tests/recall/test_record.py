from __future__ import annotations

import pytest

from hindsight_core.recall.account import account, ids_without_text
from hindsight_core.recall.shown import key

SCRIPT = {
    "recall/queries": '{"queries": ["cart ttl", "deploy"]}',
    "recall/judge": ['{"score": 80, "keep": [1, 2, 3]}', '{"score": 10, "keep": [1]}'],
}
FACTS = ("cart ttl is 30", "cart ttl was 20", "cart ttl in staging", "cart ttl", "deploy by make")


@pytest.fixture
async def logged(kit):
    made = kit(*FACTS, script=SCRIPT, recall={"max_lines": 1})
    await made.run("cart ttl and deploy?", shown=frozenset({key("cart ttl was 20")}))
    (entry,) = made.log.entries
    return entry


@pytest.mark.spec("pi/R-22", "pi/R-18")
async def test_one_entry_a_recall(logged):
    expected = {
        "type": "recall",
        "turn": "t1",
        "session": "s1",
        "prompt": "cart ttl and deploy?",
        "query": "cart ttl | deploy",
        "outcome": "injected",
        "reason": None,
        "found": 5,
        "injected": 1,
        "skipped_shown": 1,
        "skipped_filtered": 1,
        "judged": True,
    }
    assert {name: logged[name] for name in expected} == expected
    assert "cart ttl is 30" in logged["text"]


@pytest.mark.spec("pi/R-22", "br/BR-32")
async def test_every_hit_with_its_score_and_what_became_of_it(logged):
    first, second = logged["queries"]
    assert [(hit["text"], hit["outcome"]) for hit in first["hits"]] == [
        ("cart ttl is 30", "injected"),
        ("cart ttl was 20", "shown"),
        ("cart ttl in staging", "cut"),
        ("cart ttl", "dropped"),
    ]
    assert [hit["outcome"] for hit in second["hits"]] == ["weak-query"]
    assert first["hits"][0]["score"] == 1.0 and first["hits"][0]["parts"] == {"words": 1.0}


@pytest.mark.spec("pi/R-22", "br/BR-35")
@pytest.mark.parametrize("outcome", ["skipped", "empty"])
async def test_a_turn_without_facts_is_logged_too(kit, outcome):
    made = kit("cart ttl")
    await made.run("?!" if outcome == "skipped" else "weather tomorrow")
    assert [entry["outcome"] for entry in made.log.entries] == [outcome]
    assert made.log.entries[0]["reason"]


async def test_the_account_gives_the_reason_of_each(logged):
    text = "\n".join(account(logged, {}))
    for line in (
        "injected\n    shop:",
        "left out: it is before the model already",
        "left out: over the cap of lines",
        "left out: the judge did not keep it",
        "left out: its query scored 10, 25 are needed",
    ):
        assert line in text


async def test_the_account_takes_texts_from_elsewhere(logged):
    hidden = {"characters": 9, "sha256": "0" * 12}
    for query in logged["queries"]:
        query["text"] = hidden
        for hit in query["hits"]:
            hit["text"] = hidden
    ids = ids_without_text(logged)
    assert len(ids) == 5
    text = "\n".join(account({**logged, "prompt": hidden}, {ids[0]: "from the bank"}))
    assert f"{ids[0]}  from the bank" in text
    assert "not logged" in text and "characters" not in text
