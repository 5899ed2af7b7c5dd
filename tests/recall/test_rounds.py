"""Further rounds of a thorough recall."""

from __future__ import annotations

import pytest

from hindsight_core.errors import ProviderError
from hindsight_core.testing.models import HANG

IMPORTER = "The importer writes to the heron cluster"
HERON = "Heron takes traffic on port 7100 only"
PORT = "Port 7100 needs the ops certificate"
FACTS = (IMPORTER, HERON, PORT)


def script(*followups: object, **changes: object) -> dict[str, object]:
    return {
        "recall/queries": {"queries": ["importer writes"]},
        "recall/judge": {"score": 80, "keep": [1, 2, 3]},
        "recall/followup": list(followups),
        **changes,
    }


def queries(outcome):
    return [item.query.text for item in outcome.searched]


def texts(outcome):
    return {hit.fact.text for hit in outcome.hits}


THOROUGH = {"effort": "thorough"}


@pytest.mark.spec("pi/R-06")
async def test_what_was_found_names_what_is_still_to_be_found(kit):
    made = kit(
        *FACTS,
        script=script(
            {"queries": ["heron port"]}, {"queries": ["ops certificate"]}, {"queries": ["x"]}
        ),
        recall=THOROUGH,
    )
    outcome = await made.run("where does the importer write?")
    assert queries(outcome) == ["importer writes", "heron port", "ops certificate"]
    assert texts(outcome) == set(FACTS)
    assert len(made.model.asked("recall/followup")) == 2
    second = made.model.asked("recall/followup")[1].messages[0].content
    assert HERON in second and "- heron port" in second


@pytest.mark.parametrize("effort", ["light", "normal"])
async def test_other_efforts_have_one_round(kit, effort):
    made = kit(*FACTS, script=script({"queries": ["heron port"]}), recall={"effort": effort})
    outcome = await made.run("where does the importer write?")
    assert queries(outcome) == ["importer writes"]
    assert made.model.asked("recall/followup") == []


@pytest.mark.spec("pi/R-06")
@pytest.mark.parametrize(("ceiling", "sent"), [(1, 1), (2, 2), (4, 4), (20, 11)])
async def test_all_rounds_together_keep_the_ceiling(kit, ceiling, sent):
    first = {"queries": [f"heron port {n}" for n in range(9)]}
    second = {"queries": [f"ops certificate {n}" for n in range(9)]}
    made = kit(*FACTS, script=script(first, second), recall={**THOROUGH, "max_queries": ceiling})
    assert len(queries(await made.run("where does the importer write?"))) == sent


@pytest.mark.parametrize(
    "reply", [{"queries": []}, {"queries": ["Importer Writes"]}, ProviderError("down"), "gibberish"]
)
async def test_nothing_new_to_ask_ends_it(kit, reply):
    made = kit(*FACTS, script=script(reply), recall=THOROUGH)
    outcome = await made.run("where does the importer write?")
    assert queries(outcome) == ["importer writes"]
    assert (outcome.outcome, texts(outcome)) == ("injected", {IMPORTER})


async def test_a_round_that_brings_nothing_is_the_last(kit):
    made = kit(
        *FACTS, script=script({"queries": ["zzz yyy"]}, {"queries": ["heron"]}), recall=THOROUGH
    )
    outcome = await made.run("where does the importer write?")
    assert queries(outcome) == ["importer writes", "zzz yyy"]


async def test_where_nothing_was_found_nobody_is_asked(kit):
    made = kit(
        *FACTS,
        script=script({"queries": ["heron"]}, **{"recall/judge": {"score": 0, "keep": []}}),
        recall=THOROUGH,
    )
    await made.run("where does the importer write?")
    assert made.model.asked("recall/followup") == []


async def test_one_that_hangs_leaves_what_was_found(kit):
    made = kit(*FACTS, script=script(HANG), recall={**THOROUGH, "timeout_ms": 200})
    outcome = await made.run("where does the importer write?")
    assert (outcome.outcome, texts(outcome)) == ("injected", {IMPORTER})


async def test_a_plan_without_a_model_has_one_round(kit):
    down = {"recall/queries": ProviderError("down")}
    made = kit(*FACTS, script=script({"queries": ["heron port"]}, **down), recall=THOROUGH)
    await made.run("where does the importer write?")
    assert made.model.asked("recall/followup") == []
