"""Add, replace or skip: by comparing, and by a model where there is one."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from hindsight_core.errors import ProviderError
from hindsight_core.identity import fact_id
from hindsight_core.memorize.resolve import MOST_KNOWN, compare, resolve
from hindsight_core.memory import Fact, Hit
from hindsight_core.prompts import Prompts
from hindsight_core.stages import Stages
from hindsight_core.testing.models import ScriptedModel

JANUARY, JUNE = datetime(2030, 1, 1, tzinfo=UTC), datetime(2030, 6, 1, tzinfo=UTC)
DEDUP = "memorize/dedup"


def a_fact(text: str, **values: object) -> Fact:
    return Fact(id=fact_id(text), text=text, **values)


def near(*facts: Fact) -> tuple[Hit, ...]:
    return tuple(Hit(fact, "shop", 1 - n / 1000) for n, fact in enumerate(facts))


def decided(candidates, stored=()):
    found = compare(candidates, {c.id: near(*stored) for c in candidates})
    return [(r.action, r.fact.text, r.target) for r in found]


async def asked(model, candidates, stored):
    stages = Stages(prompts=Prompts(), models=model)
    neighbours = {c.id: near(*stored) for c in candidates}
    found = await resolve(candidates, neighbours, stages=stages)
    return [(r.action, r.fact.text, r.target) for r in found]


OLD = a_fact("the queue prefetch is 20")
NEW = a_fact("prefetch is now 50")


@pytest.mark.spec("br/BR-16")
def test_a_known_statement_is_skipped_a_changed_one_replaces():
    again = a_fact("prefetch for the queue: twenty messages")
    assert decided([again], [OLD]) == [("skip", again.text, OLD.id)]
    assert decided([NEW], [OLD]) == [("replace", NEW.text, OLD.id)]
    assert decided([a_fact("Redis is on port 6379")], [OLD])[0][0] == "add"


def test_a_vague_subject_that_could_be_two_supersedes_neither():
    staging, production = a_fact("the staging port is 80"), a_fact("the production port is 90")
    assert decided([a_fact("the port is now 70")], [staging, production])[0][0] == "add"
    assert decided([a_fact("the port is now 70")], [staging])[0][0] == "replace"


def test_two_stored_values_of_one_subject_are_both_replaced():
    stale = [a_fact("the port is 80"), a_fact("the port is 81")]
    assert decided([a_fact("the port is 90")], stale) == [
        ("replace", "the port is 90", stale[0].id),
        ("replace", "the port is 90", stale[1].id),
    ]


def test_what_was_said_earlier_never_replaces_what_was_said_later():
    old = replace(a_fact("the port is 80"), timestamp=JANUARY)
    new = replace(a_fact("the port is 90"), timestamp=JUNE)
    assert decided([old], [new]) == [("skip", old.text, new.id)]
    assert decided([new], [old]) == [("replace", new.text, old.id)]


BARE, WHY = a_fact("We never deploy on Fridays"), "because support is away"
FULL = a_fact(f"{BARE.text} {WHY}")


@pytest.mark.spec("br/BR-16")
def test_what_adds_a_reason_supersedes_and_the_shorter_one_stays_known():
    assert decided([FULL], [BARE]) == [("replace", FULL.text, BARE.id)]
    assert decided([BARE], [FULL]) == [("skip", BARE.text, FULL.id)]
    assert decided([FULL], [FULL, BARE]) == [("skip", FULL.text, FULL.id)]


def test_what_adds_a_reason_leaves_pinned_and_later_facts_alone():
    assert decided([FULL], [replace(BARE, pinned=True)]) == [("add", FULL.text, None)]
    early, late = replace(FULL, timestamp=JANUARY), replace(BARE, timestamp=JUNE)
    assert decided([early], [late]) == [("add", FULL.text, None)]


def test_within_one_run_the_fuller_statement_stays_with_all_that_it_supersedes():
    assert decided([BARE, FULL]) == [("skip", BARE.text, FULL.id), ("add", FULL.text, None)]
    assert decided([FULL, BARE]) == [("add", FULL.text, None), ("skip", BARE.text, FULL.id)]
    stored = a_fact("The session cache is Redis")
    short = a_fact("Use Postgres instead of Redis for the session cache")
    full = a_fact(f"{short.text} unless it is down")
    assert decided([short, full], [stored]) == [
        ("skip", short.text, full.id),
        ("replace", full.text, stored.id),
    ]


def test_a_pinned_fact_is_left_alone():
    pinned = replace(OLD, pinned=True)
    assert decided([NEW], [pinned]) == [("add", NEW.text, None)]


def test_within_one_run_the_later_statement_wins():
    first, second = a_fact("the port is 80"), a_fact("the port is 90")
    assert decided([first, second]) == [
        ("skip", first.text, second.id),
        ("add", second.text, None),
    ]
    late, early = replace(first, timestamp=JUNE), replace(second, timestamp=JANUARY)
    assert [action for action, _, _ in decided([late, early])] == ["add", "skip"]
    assert [action for action, _, _ in decided([first, first])] == ["add", "skip"]


@pytest.mark.spec("pi/M-17")
async def test_without_neighbours_no_model_is_asked():
    model = ScriptedModel()
    assert await asked(model, [NEW], []) == [("add", NEW.text, None)]
    assert model.requests == []


@pytest.mark.spec("pi/M-17")
async def test_the_model_sees_what_comparing_could_not():
    held = a_fact("Sessions are kept in Redis")
    found = [a_fact("Redis holds the sessions"), a_fact("The team likes tea")]
    model = ScriptedModel({DEDUP: {"known": [1], "updates": []}})
    assert await asked(model, found, [held]) == [
        ("skip", found[0].text, None),
        ("add", found[1].text, None),
    ]
    text = model.requests[0].messages[0].content
    assert text.index("1. Redis holds") < text.index("1. Sessions are kept")


@pytest.mark.spec("pi/M-17")
async def test_an_update_supersedes_what_it_changes():
    held = a_fact("Invoices are mailed by a cron job")
    new = a_fact("A queue worker sends the invoices")
    model = ScriptedModel({DEDUP: {"known": [], "updates": [{"fact": 1, "known": 1}]}})
    assert await asked(model, [new], [held]) == [("replace", new.text, held.id)]
    assert await asked(model, [new], [replace(held, pinned=True)]) == [("add", new.text, None)]


@pytest.mark.spec("br/BR-16")
async def test_a_model_cannot_call_another_number_a_duplicate():
    held, new = a_fact("Workers: 20 of them"), a_fact("There should be 50 workers")
    model = ScriptedModel({DEDUP: {"known": [1], "updates": []}})
    assert await asked(model, [new], [held]) == [("add", new.text, None)]


@pytest.mark.spec("br/BR-16")
async def test_a_model_is_not_asked_about_what_is_plain():
    model = ScriptedModel()
    assert (await asked(model, [NEW], [OLD]))[0][0] == "replace"
    assert model.requests == []


@pytest.mark.spec("pi/D-02", "pi/M-17")
@pytest.mark.parametrize("reply", [ProviderError("down"), "no idea", {"known": [7], "updates": []}])
async def test_an_outage_or_nonsense_never_means_that_all_is_known(reply):
    model = ScriptedModel({"*": reply})
    found = await asked(model, [a_fact("The team likes tea")], [a_fact("Tea is served at four")])
    assert [action for action, _, _ in found] == ["add"]


@pytest.mark.spec("pi/M-16")
async def test_at_most_120_known_facts_are_shown_each_once():
    stored = [a_fact(f"Room {n} is blue") for n in range(200)]
    model = ScriptedModel({DEDUP: {"known": [], "updates": []}})
    await asked(model, [a_fact("Tea is served"), a_fact("Cake is served")], stored)
    text = model.requests[0].messages[0].content
    assert text.count("is blue") == MOST_KNOWN == 120
    assert "Room 0 " in text
    assert "Room 150 " not in text
