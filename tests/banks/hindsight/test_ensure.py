"""The bank is there, and has the missions of the settings."""

from __future__ import annotations

import pytest

from hindsight_core.errors import BankError
from hindsight_core.memory import Document

MISSIONS = {"retain_mission": "Keep decisions", "observations_mission": "Track habits"}


@pytest.mark.spec("pi/H-02")
async def test_a_new_bank_is_put_with_its_id_as_name(bank, server, refusal):
    server.answers["GET config"] = refusal(404, "Bank 'shop' not found")
    await bank.ensure()
    await bank.ensure()
    assert server.bodies("PUT ") == [{"name": "shop"}] * 2
    assert server.limits("PUT ") == [15, 15]


async def test_a_bank_that_exists_keeps_the_name_that_a_person_gave_it(bank, server):
    await bank.ensure()
    assert server.asked("PUT ") == []


async def test_a_server_without_the_config_api_is_put_too(bank, server, refusal):
    server.answers["GET config"] = refusal(404, "Not Found")
    await bank.ensure()
    assert server.bodies("PUT ") == [{"name": "shop"}]


async def test_the_first_write_makes_sure_of_the_bank_once(bank, server):
    await bank.retain(Document("d1", "- one"))
    await bank.retain(Document("d2", "- two"))
    assert len(server.asked("GET config")) == 1


@pytest.mark.spec("pi/W-06", "pi/H-04")
async def test_only_missions_that_differ_are_set(opened, server):
    bank = opened(memorize=MISSIONS)
    server.answers["GET config"] = {"overrides": {"retain_mission": "Keep decisions"}}
    await bank.ensure()
    # The server takes them only inside of `updates`.
    assert server.bodies("PATCH config") == [{"updates": {"observations_mission": "Track habits"}}]
    assert server.limits("GET config") == [5]
    assert server.limits("PATCH config") == [15]
    server.answers["GET config"] = {"overrides": MISSIONS}
    await bank.ensure()
    assert len(server.asked("PATCH config")) == 1


@pytest.mark.spec("pi/W-06")
async def test_missions_that_cannot_be_set_stop_nothing(opened, server, refusal, caplog):
    bank = opened(memorize=MISSIONS)
    server.answers["PATCH config"] = refusal(404, "Not Found")
    assert (await bank.retain(Document("d1", "- one"))).outcome == "stored"
    assert "keeps its missions" in caplog.text


async def test_without_missions_nothing_of_the_bank_is_changed(bank, server):
    await bank.ensure()
    assert server.asked("PATCH config") == []


async def test_a_server_that_is_away_is_an_error(bank, server, refusal):
    server.answers["GET config"] = refusal(503, "starting")
    with pytest.raises(BankError, match="503"):
        await bank.ensure()


@pytest.mark.spec("s1/S-CFG-7")
async def test_the_chunk_size_is_set_when_the_bank_is_made_and_never_after(opened, server, refusal):
    entries = [{"id": "shop", "retain_structured_chunk_size": 1200}, {"id": "other"}]
    bank = opened(bank={"entries": entries})
    await bank.ensure()
    assert server.asked("PATCH config") == []
    server.answers["GET config"] = refusal(404, "Bank 'shop' not found")
    await bank.ensure()
    assert server.bodies("PATCH config") == [{"updates": {"retain_structured_chunk_size": 1200}}]
