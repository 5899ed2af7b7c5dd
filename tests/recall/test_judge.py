from __future__ import annotations

import pytest

from hindsight_core.errors import AnswerError, ProviderError
from hindsight_core.memory import Query
from hindsight_core.providers.structured import read_answer
from hindsight_core.recall.answers import JudgeAnswer
from hindsight_core.recall.judge import judge, unjudged, verdict
from hindsight_core.testing.models import HANG
from hindsight_core.turns import Turn

TURN = Turn(id="t", session_id="s", prompt="fix the importer")
QUERY = Query("importer retries")


def read(text, hits):
    return verdict(read_answer(text, JudgeAnswer), hits)


@pytest.fixture
def hits(hit):
    return [hit(f"fact {n}") for n in range(1, 5)]


@pytest.mark.spec("pi/R-12")
@pytest.mark.parametrize(
    ("answer", "of", "score", "keep"),
    [
        ('{"score": 80, "keep": [1, 3]}', 4, 80, [1, 3]),
        ('{"score": 50, "keep": [1, 9, 0]}', 3, 50, [1]),
        ('{"score": 90, "keep": []}', 3, 0, []),
        ('{"score": 900, "keep": [2]}', 3, 100, [2]),
        ('{"score": 0, "keep": []}', 3, 0, []),
        ('{"score": -5, "keep": [1]}', 3, 0, []),
        ('{"score": "none", "keep": [1]}', 3, 0, []),
        ('{"score": 61.6, "keep": [3, 1, 3]}', 3, 62, [1, 3]),
    ],
)
def test_verdicts(hits, answer, of, score, keep):
    found = read(answer, hits[:of])
    assert found.score == score
    assert [h.fact.text for h in found.keep] == [f"fact {n}" for n in keep]


@pytest.mark.spec("pi/R-12")
@pytest.mark.parametrize("answer", ["I would keep the first one.", '{"score": 70}'])
def test_unreadable_verdicts(hits, answer):
    with pytest.raises(AnswerError):
        read(answer, hits)


@pytest.mark.spec("pi/D-18")
@pytest.mark.parametrize(
    "answer",
    [
        '```json\n{"score": 70, "keep": [2]}\n```',
        'Here it is: {"score": "70", "keep": ["2"]}',
        '{"score": 70, "keep": [2,],}',
    ],
)
def test_what_is_clear_counts_whatever_its_form(hits, answer):
    found = read(answer, hits)
    assert (found.score, [h.fact.text for h in found.keep]) == (70, ["fact 2"])


@pytest.mark.spec("pi/R-11")
def test_without_a_judge_candidates_are_worth_50(hits):
    assert unjudged(hits).score == 50
    assert unjudged(hits).keep == tuple(hits)
    assert unjudged([]).score == 0


@pytest.mark.spec("pi/R-12", "pi/L-05")
async def test_input_is_task_key_and_numbered_facts(kit, hits):
    made = kit(script={"recall/judge": '{"score": 70, "keep": [1]}'})
    await judge(made.stages, TURN, QUERY, hits, timeout_s=5)
    asked = made.model.requests[0].messages[0].content
    assert "fix the importer" in asked and "importer retries" in asked
    assert made.model.requests[0].max_tokens == 160
    lines = [line for line in asked.splitlines() if line[:1].isdigit()]
    assert lines == [f"{n}. (2026-03-01) fact {n}" for n in range(1, 5)]


@pytest.mark.spec("pi/R-11")
@pytest.mark.parametrize(
    "reply", [ProviderError("down"), ["not JSON", "neither is this"], HANG], ids=str
)
async def test_a_judge_that_cannot_answer_keeps_the_candidates(kit, hits, reply):
    script = {"recall/judge": reply, "recall/judge+repair": "still not JSON"}
    found = await judge(kit(script=script).stages, TURN, QUERY, hits, timeout_s=0.05)
    assert (found.failed, found.score, found.keep) == (True, 50, tuple(hits))


async def test_no_hits_cost_no_call(kit):
    made = kit(script={})
    assert (await judge(made.stages, TURN, QUERY, [], timeout_s=5)).score == 0
    assert made.model.requests == []
