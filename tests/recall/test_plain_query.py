"""The question of a plain recall in whole sentences."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from hindsight_core.config.settings import Settings
from hindsight_core.memory import Query
from hindsight_core.prompts import Prompts
from hindsight_core.recall.plain_query import PlainQuery, joined, messages
from hindsight_core.recall.scopes import BankScope
from hindsight_core.testing.clock import FakeClock
from hindsight_core.transcript.entry import Entry, Image, Text
from hindsight_core.transcript.sanitise import Sanitiser
from hindsight_core.turns import Turn

NOW = datetime(2026, 4, 1, 23, 30, tzinfo=UTC)
SHOP = BankScope("shop", project="github-com-me-shop", repo="shop-0123", folder="shop")
ME = BankScope("me", kind="user", project="github-com-me-shop", repo="shop-0123", folder="shop")
BLOCK = '<hindsight-memory kind="recall">\n- old fact\n</hindsight-memory>'


def turn(*before, prompt="second"):
    said = [
        Entry(f"e{n}", role, parts if isinstance(parts, tuple) else (Text(parts),))
        for n, (role, parts) in enumerate(before)
    ]
    return Turn("t", "s", prompt, entries=tuple(Sanitiser().entries(said)))


def whole(scope, said, **recall):
    made = PlainQuery(Settings.model_validate({"recall": recall}), Prompts(), FakeClock(NOW))
    query = made.worded(Query("second"), said, scope)
    assert query.text == "second"
    return query.whole


@pytest.mark.spec("s1/S-REC-2", "s1/S-REC-3")
def test_the_last_turns_by_role():
    said = turn(("user", "first"), ("assistant", "answer"))
    assert messages(said, turns=1, roles=["user"]) == "user: second"
    assert messages(said, turns=1, roles=["user", "assistant"]) == "user: second"
    assert messages(said, turns=2, roles=["user", "assistant"]) == (
        "user: first\n\nassistant: answer\n\nuser: second"
    )
    assert messages(said, turns=2, roles=["assistant"]) == "assistant: answer"


@pytest.mark.spec("s1/S-REC-2")
def test_blocks_are_left_out_a_mention_is_not_and_images_are_named():
    mention = "the tag hindsight-memory is ours"
    said = turn(
        ("user", f"look at this\n{BLOCK}"),
        ("assistant", mention),
        ("user", (Text("and this"), Image())),
    )
    told = messages(said, turns=3, roles=["user", "assistant"])
    assert "old fact" not in told
    assert f"assistant: {mention}" in told
    assert "user: and this\n[image omitted]" in told


@pytest.mark.spec("s1/S-REC-2")
@pytest.mark.parametrize(
    ("scope", "settings", "head"),
    [
        (
            SHOP,
            {},
            "Scope: project; project: github-com-me-shop; repository: shop-0123; folder: shop",
        ),
        (ME, {}, "Scope: user"),
        (SHOP, {"include_repo_hints_in_query": False}, "Scope: project"),
        (
            ME,
            {"include_date_in_query": True, "query_preamble": "Be brief."},
            "Be brief.\nCurrent date: 2026-04-01\nScope: user",
        ),
        (ME, {"query_preamble": "all", "user_query_preamble": "mine"}, "mine\nScope: user"),
        (
            SHOP,
            {
                "query_preamble": "all",
                "project_query_preamble": "ours",
                "include_repo_hints_in_query": False,
            },
            "ours\nScope: project",
        ),
    ],
)
def test_what_stands_before_the_talk(scope, settings, head):
    assert whole(scope, turn(), **settings) == f"{head}\n\nuser: second"


@pytest.mark.spec("s1/S-REC-3")
def test_the_head_stays_whole_and_the_end_of_the_talk():
    assert joined("", "very long suffix", limit=12) == "long suffix"
    said = "user: " + "x" * 200 + " the end of it all"
    cut = joined("Scope: project", said, limit=60)
    assert cut.startswith("Scope: project\n\n")
    assert cut.endswith("the end of it all") and len(cut) <= 60
    assert joined("h" * 50, said, limit=60) == said[-60:].strip()


@pytest.mark.spec("s1/S-REC-2")
async def test_a_bank_is_asked_in_its_own_words(kit):
    made = kit(banks={"shop": ["port 8443"], "me": ["port 1"]}, recall={"mode": "plain"})
    asked = {}
    for bank in made.banks.values():

        async def recall(query, bank=bank):
            asked[bank.id] = query
            return []

        bank.recall = recall
    await made.run("which port?")
    assert {query.text for query in asked.values()} == {"which port?"}
    assert all(query.whole.endswith("user: which port?") for query in asked.values())
