from __future__ import annotations

import pytest

from hindsight_core.memorize.lifecycle.ranking import ranked, weight
from hindsight_core.memory import Fact, Hit
from hindsight_core.state.life import LifeRecord, Told


def hit(fact_id: str, score: float) -> Hit:
    return Hit(Fact(fact_id, fact_id), "shop", score)


@pytest.mark.spec("am/A-RANK")
def test_score_priority_and_confidence_make_the_order():
    records = {
        "theirs": LifeRecord(Told("assistant"), priority=0.55, confidence=0.75),
        "mine": LifeRecord(Told("user"), priority=1, confidence=1),
    }
    found = ranked([hit("theirs", 0.99), hit("mine", 0.8)], records)
    assert [(item.hit.fact.id, round(item.score, 4)) for item in found] == [
        ("mine", 0.8),
        ("theirs", 0.4764),
    ]


@pytest.mark.spec("am/A-RANK")
def test_the_weight_of_new_memories_and_of_numbers_that_are_none():
    assert weight(LifeRecord(Told("user"), confidence=0.5)) == 0.75
    assert weight(LifeRecord(Told("assistant"), priority=0.55)) == pytest.approx(0.4125)
    assert weight(LifeRecord(Told("user"), priority=-1.0)) == 0
    assert weight(LifeRecord(Told("user"), priority=float("nan"), confidence=7.0)) == 1
    assert weight(LifeRecord(Told("assistant"), priority=float("inf"), confidence=1)) == 0.55
