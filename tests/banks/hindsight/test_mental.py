"""Mental models and the facts behind an observation, as the server tells of them."""

from __future__ import annotations

import pytest

from hindsight_core.banks.base import ListsMentalModels, MentalModel
from hindsight_core.errors import BankError
from hindsight_core.memory import Query


@pytest.mark.spec("s1/S-MM-1")
async def test_those_that_are_written_are_listed(bank, server, refusal):
    assert isinstance(bank, ListsMentalModels)
    server.answers["GET mental-models"] = {
        "items": [
            {"id": "m1", "name": "style", "content": "Short.", "tags": ["project:shop"]},
            {"id": "m2", "name": "new", "content": "Generating content..."},
            {"id": "m3", "name": "empty", "content": None},
        ]
    }
    assert await bank.mental_models() == (MentalModel("m1", "style", "Short.", ("project:shop",)),)
    server.answers["GET mental-models"] = refusal(404, "Bank 'shop' not found")
    assert await bank.mental_models() == ()
    server.answers["GET mental-models"] = refusal(500, "oops")
    with pytest.raises(BankError):
        await bank.mental_models()


@pytest.mark.spec("s1/S-REC-7")
@pytest.mark.parametrize("wanted", [True, False])
async def test_the_facts_behind_an_observation_come_with_it(opened, server, wanted):
    observed = {"id": "o1", "text": "Likes tabs", "type": "observation"}
    observed["source_fact_ids"] = ["f2", "f1", "gone"]
    server.answers["POST memories/recall"] = {
        "results": [observed],
        "source_facts": {"f1": {"id": "f1", "text": "Chose tabs"}, "f2": {"text": "Hates spaces"}},
    }
    bank = opened(recall={"include_source_facts": wanted})
    [hit] = await bank.recall(Query("tabs"))
    assert hit.evidence == (("Hates spaces", "Chose tabs") if wanted else ())


@pytest.mark.spec("s1/S-REC-2")
async def test_the_server_is_asked_in_whole_sentences(bank, server):
    await bank.recall(Query("port", whole="Scope: project\n\nuser: which port?"))
    await bank.recall(Query("port"))
    asked = [body["query"] for body in server.bodies("POST memories/recall")]
    assert asked == ["Scope: project\n\nuser: which port?", "port"]
