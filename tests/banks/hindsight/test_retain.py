"""Writes: once, seen to the end, and word for word where the facts are ours."""

from __future__ import annotations

import httpx
import pytest

from hindsight_core.errors import BankError
from hindsight_core.identity import fact_id
from hindsight_core.memory import Document, Fact

TEXT = Document("d1", "- Orders are kept in PostgreSQL")


def operation(status, error=None):
    return {"status": status, "error_message": error, "child_operations": []}


@pytest.mark.spec("pi/H-22", "pi/D-24", "oc/O-RET-5")
async def test_a_write_is_watched_until_it_has_ended(bank, server):
    server.answers["GET operations/*"] = [operation("pending"), operation("completed")]
    assert (await bank.retain(TEXT)).outcome == "stored"
    [body] = server.bodies("POST memories")
    assert body["async"] is True
    assert server.requests[-1].url.path.endswith("/memories/list")
    assert [
        r.url.path.rpartition("/")[2] for r in server.requests if "operations" in r.url.path
    ] == [body["operation_id"]] * 2


@pytest.mark.spec("pi/D-24", "oc/O-RET-5")
async def test_a_failed_extraction_is_an_error_and_the_next_try_is_a_new_write(bank, server):
    failed = operation("failed", "Fact extraction failed: 1/1 chunks failed")
    server.answers["GET operations/*"] = [failed, operation("completed")]
    with pytest.raises(BankError, match="Fact extraction failed") as caught:
        await bank.retain(TEXT)
    assert caught.value.retryable
    await bank.retain(TEXT)
    first, second = server.bodies("POST memories")
    assert first["operation_id"] != second["operation_id"]


@pytest.mark.spec("pi/H-22")
async def test_a_lost_answer_is_asked_for_again_under_the_same_id(bank, server):
    server.answers["POST memories"] = [httpx.ReadTimeout("late"), {"operation_id": None}]
    with pytest.raises(BankError, match="no answer within 30 s"):
        await bank.retain(TEXT)
    await bank.retain(TEXT)
    first, second = server.bodies("POST memories")
    assert first == second


async def test_the_same_text_after_another_one_is_a_write_of_its_own(bank, server):
    for text in ("- Alpha", "- Beta", "- Alpha"):
        await bank.retain(Document("d1", text))
    assert len({body["operation_id"] for body in server.bodies("POST memories")}) == 3


async def test_a_write_that_takes_long_is_left_to_the_queue(bank, server):
    from hindsight_core.banks.hindsight.extracted import Extraction

    server.answers["GET operations/*"] = operation("processing")
    found = bank._extraction
    slow = Extraction(found.api, found.facts, found.side, found.clock, wait_s=0.0)
    for _ in range(2):
        with pytest.raises(BankError, match="still works") as caught:
            await slow.store(TEXT)
        assert caught.value.retryable
    assert len({body["operation_id"] for body in server.bodies("POST memories")}) == 1


@pytest.mark.parametrize("version", [{"api_version": "0.8.5"}, None])
async def test_an_older_server_is_called_synchronously(bank, server, refusal, version):
    server.answers["GET /version"] = version or refusal(404, "Not Found")
    await bank.retain(TEXT)
    [body] = server.bodies("POST memories")
    assert body["async"] is False
    assert "operation_id" not in body


async def test_append_needs_a_server_that_does_it_once(bank, server):
    server.answers["GET /version"] = {"api_version": "0.8.5"}
    with pytest.raises(BankError, match=r"0\.8\.6 is needed") as caught:
        await bank.append(TEXT)
    assert not caught.value.retryable
    assert server.asked("POST memories") == []


async def test_append_says_so(bank, server):
    await bank.append(TEXT)
    assert server.bodies("POST memories")[0]["items"][0]["update_mode"] == "append"


@pytest.mark.spec("br/BR-41")
async def test_a_sentence_taken_back_is_retired_again(bank, server):
    new = {
        "id": "983038e5-726f-418d-b4c5-651ac0d3f849",
        "text": "Orders are kept in Oracle",
        "document_id": "d1",
        "type": "world",
        "state": "valid",
    }
    gone = {**new, "id": "g", "document_id": "d0", "state": "invalidated"}
    gone["invalidation_reason"] = "moved"

    def listing(request):
        retired = request.url.params.get("state") == "invalidated"
        return httpx.Response(200, json={"items": [gone if retired else new], "total": 1})

    server.answers["GET memories/list"] = listing
    server.answers["GET memories/*"] = new
    server.answers[f"PATCH memories/{new['id']}"] = {**new, "state": "invalidated"}
    receipt = await bank.retain(Document("d1", "- Orders are kept in Oracle"))
    assert receipt.fact_ids == ()
    assert server.bodies(f"PATCH memories/{new['id']}") == [
        {"state": "invalidated", "reason": "moved"}
    ]


async def test_facts_of_ours_are_sent_word_for_word(bank, server):
    fact = Fact(id=fact_id("Port 7 is open"), text="Port 7 is open", kind="pitfall", tags=("a",))
    receipt = await bank.retain(Document("d1", "- Port 7 is open", facts=(fact,)))
    assert (receipt.outcome, receipt.fact_ids) == ("stored", (fact.id,))
    [told] = server.bodies("PATCH config")
    [name] = told["updates"]["retain_strategies"]
    assert told["updates"]["retain_strategies"][name]["retain_extraction_mode"] == "chunks"
    [body] = server.bodies("POST memories")
    [item] = body["items"]
    assert (item["content"], item["strategy"]) == ("Port 7 is open", name)
    assert (item["document_id"], item["tags"]) == (f"fact:{fact.id}", ["a"])
    assert all(isinstance(value, str) for value in item["metadata"].values())
    assert body["async"] is False


async def test_a_banks_own_strategies_are_kept(bank, server):
    own = {"chunky": {"retain_extraction_mode": "chunks"}}
    server.answers["GET config"] = {"overrides": {"retain_strategies": own}}
    await bank.import_facts([Fact(id="f1", text="one"), Fact(id="f2", text="two")])
    [told] = server.bodies("PATCH config")
    assert own.items() < told["updates"]["retain_strategies"].items()
    [body] = server.bodies("POST memories")
    assert len(body["items"]) == 2


async def test_a_server_that_rewrites_facts_is_given_none(bank, server):
    server.answers["GET /version"] = {"api_version": "0.4.18"}
    with pytest.raises(BankError, match=r"0\.4\.19 is needed") as caught:
        await bank.import_facts([Fact(id="f1", text="one")])
    assert not caught.value.retryable
    assert server.asked("POST memories") == []
