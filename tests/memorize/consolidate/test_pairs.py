from __future__ import annotations

from dataclasses import replace

import pytest

from hindsight_core.config.settings.capture import Consolidation
from hindsight_core.memorize.consolidate.pairs import (
    disjoint,
    pairs_by_vectors,
    pairs_by_words,
    partitions,
)
from hindsight_core.memorize.lifecycle.memory import Memory
from hindsight_core.memory import Fact
from hindsight_core.state.life import LifeRecord, Told


def memory(
    name: str, text: str = "", *, actor: str = "user", kind: str = "fact", **changes: object
):
    record = LifeRecord(Told(actor), scope="global")  # type: ignore[arg-type]
    return Memory(Fact(name, text or name, kind=kind), replace(record, **changes))


def towards(cosine: float) -> list[float]:
    return [cosine, (1 - cosine**2) ** 0.5]


@pytest.mark.spec("am/A-COMP-1")
def test_the_likest_pairs_come_first_and_no_memory_is_in_two():
    part = [memory(name) for name in "abcd"]
    # a-c 0.99, b-d 0.9; b and d are also near a and c
    vectors = [[1, 0, 0, 0], [0.5, 0.866, 0, 0], [0.99, 0.141, 0, 0], [0.1, 0.9, 0.424, 0]]
    found = disjoint(pairs_by_vectors(part, vectors, least=0.5), most=2)
    assert [pair.ids for pair in found] == [("a", "c"), ("b", "d")]
    assert len(disjoint(pairs_by_vectors(part, vectors, least=0.5), most=1)) == 1


@pytest.mark.spec("am/A-COMP-1")
def test_equal_likeness_is_ordered_by_id():
    part = [memory(name) for name in "abcd"]
    found = disjoint(pairs_by_vectors(part, [[1.0, 0.0]] * 4, least=0.5), most=10)
    assert [pair.ids for pair in found] == [("a", "b"), ("c", "d")]


@pytest.mark.spec("am/A-COMP-1")
def test_the_default_threshold_is_half():
    part = [memory("a"), memory("b")]
    least = Consolidation().similarity_threshold
    assert len(pairs_by_vectors(part, [towards(1), towards(0.515)], least=least)) == 1
    assert pairs_by_vectors(part, [towards(1), towards(0.49)], least=least) == []
    assert Consolidation().maximum_proposals == 10


@pytest.mark.spec("am/A-COMP-1", "am/A-COMP-4")
def test_what_differs_in_scope_kind_authority_or_project_is_in_no_part_together():
    base = memory("a")
    others = [
        memory("b", actor="assistant"),
        memory("c", kind="user_profile"),
        memory("d", scope="project", project="one"),
        memory("e", scope="project", project="two"),
    ]
    assert partitions([base, *others]) == []
    [part] = partitions([memory("z"), *others, base])
    assert [item.fact.id for item in part] == ["a", "z"]


def test_without_vectors_words_are_compared():
    part = [
        memory("a", "The user prefers tabs in Python files."),
        memory("b", "In Python files the user prefers tabs."),
        memory("c", "The build takes nine minutes."),
    ]
    [pair] = pairs_by_words(part, least=0.3)
    assert pair.ids == ("a", "b")


def test_a_word_that_all_have_says_nothing():
    part = [memory(f"m{n:03}", f"shop widget{n}") for n in range(300)]
    assert pairs_by_words(part, least=0.3) == []
