"""Gates before a steer's judge, and the rank of what passes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from hindsight_core.config.settings.capture import Steer
from hindsight_core.memory import Fact, Hit
from hindsight_core.recall.steer.known import Known
from hindsight_core.recall.steer.planner import breadth
from hindsight_core.recall.steer.select import Selected, normalised, rank, select

NOW = datetime(2026, 1, 10, 12, 0, tzinfo=UTC)
HERE = "this-session"


def hit(name: str, score: float = 0.9, **parts: float) -> Hit:
    return Hit(Fact(id=name, text=f"fact {name}"), "b", score, parts or {"vectors": score})


def run(
    *pairs: tuple[Hit, Known], context: str = "", suppressed: tuple[str, ...] = (), **more: object
) -> Selected:
    return select(
        [found for found, _ in pairs],
        {found.id: known for found, known in pairs},
        settings=Steer.model_validate(more),
        context=context,
        session_id=HERE,
        suppressed=frozenset(suppressed),
        now=NOW,
    )


def names(selected: Selected) -> list[str]:
    return [item.hit.fact.id for item in selected.kept]


@pytest.mark.spec("am/A-RANK")
def test_likeness_is_weighed_with_authority_and_confidence():
    assert rank(hit("u", 1.0), Known()) == pytest.approx(0.75)
    agent = Known(actor="assistant", weight=0.55 * 0.875, confidence=0.75)
    assert rank(hit("a", 0.99), agent) == pytest.approx(0.4764, abs=1e-4)
    found = run((hit("a", 0.99), agent), (hit("u", 0.8), Known(confidence=1, weight=1.0)))
    assert names(found) == ["u", "a"]


@pytest.mark.spec("am/A-RECALL")
def test_what_was_made_in_this_session_lately_rests():
    young, old = NOW - timedelta(minutes=29), NOW - timedelta(minutes=30)
    pairs = (
        (hit("recent", 0.99), Known(session_id=HERE, created_at=young)),
        (hit("old", 0.95), Known(session_id=HERE, created_at=old)),
        (hit("other", 0.9), Known(session_id="another", created_at=young)),
    )
    found = run(*pairs)
    assert names(found) == ["old", "other"]
    assert [(held.fact.id, why) for held, why in found.held] == [("recent", "age")]
    assert names(run(*pairs, minimum_memory_age_minutes=0)) == ["recent", "old", "other"]


@pytest.mark.spec("am/A-RECALL")
def test_young_ones_do_not_crowd_out_older_ones():
    young = Known(session_id=HERE, created_at=NOW)
    pairs = [(hit(f"y{n}", 0.99), young) for n in range(3)] + [(hit("old", 0.5), Known())]
    assert names(run(*pairs, top_k=1)) == ["old"]


@pytest.mark.spec("am/A-RECALL")
@pytest.mark.parametrize(
    ("context", "kept"),
    [
        ("user: We   always deploy\non FRIDAYS, don\u2019t we?", []),
        ("user: nothing of it", ["f"]),
    ],
)
def test_what_is_before_the_model_in_its_own_words_is_held_back(context, kept):
    known = Known(said=("we always deploy on fridays, don't we?",))
    assert names(run((hit("f"), known), context=context)) == kept


@pytest.mark.spec("am/A-RECALL")
def test_a_passage_of_a_few_letters_says_nothing():
    assert names(run((hit("f"), Known(said=("deploy!",))), context="user: deploy!")) == ["f"]


@pytest.mark.spec("am/A-RECALL")
def test_what_was_sent_lately_and_what_is_far_off_never_reach_the_judge():
    pairs = ((hit("sent"), Known()), (hit("far", 0.27), Known()), (hit("near", 0.28), Known()))
    found = run(*pairs, suppressed=("b:sent",))
    assert names(found) == ["near"]
    assert {held.fact.id: why for held, why in found.held} == {
        "sent": "frequency",
        "far": "vector-score",
    }


def test_a_bank_without_a_likeness_is_held_to_no_floor_of_it():
    assert names(run((hit("words", 0.1, words=0.1), Known()))) == ["words"]


@pytest.mark.spec("am/A-RECALL")
@pytest.mark.parametrize(("top_k", "asked"), [(10, 50), (3, 23), (5, 25)])
def test_more_is_asked_for_than_is_shown(top_k, asked):
    assert breadth(top_k) == asked


def test_the_standing_of_a_fact_without_a_lifecycle_comes_from_its_provenance():
    fact = Fact(id="f", text="t")
    assert Known.of_fact(fact, assistant_priority=0.55).weight == 0.75
    told = replace(fact.provenance, speaker="assistant", quote="as it was said")
    known = Known.of_fact(replace(fact, provenance=told), assistant_priority=0.55)
    assert (known.actor, known.said) == ("assistant", ("as it was said",))
    assert known.weight == pytest.approx(0.55 * 0.75)


def test_words_are_compared_in_one_form():
    assert normalised("  It\u2019s\n FINE ") == "it's fine"
