"""The calls as they go over the wire: path, body, limit of time."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import httpx
import pytest

from hindsight_core.errors import BankError, ConfigError
from hindsight_core.memory import Document, Query

FACT = {
    "id": "983038e5-726f-418d-b4c5-651ac0d3f849",
    "text": "Orders are kept in PostgreSQL",
    "type": "world",
    "document_id": "session:1",
    "mentioned_at": "2026-01-15T10:00:00+00:00",
    "tags": ["project:hs"],
    "metadata": {"session": "s1", "source": "pi-hindsight/session-note"},
    "state": "valid",
}
OBSERVATION = {**FACT, "id": "8675f2bb-ab88-4567-bb3d-a0fb27bda25d", "type": "observation"}


@pytest.mark.spec("pi/H-01")
async def test_health_is_asked_of_the_server_itself(bank, server):
    assert (await bank.api.health())["status"] == "healthy"
    [request] = server.asked("GET /health")
    assert request.url.path == "/health"
    assert "authorization" not in request.headers
    assert server.limits("GET /health") == [5]


@pytest.mark.spec("pi/H-03")
async def test_stats_are_fresh_and_tolerant(bank, server):
    stats = await bank.stats()
    assert (stats.documents, stats.facts) == (2, 3)
    [request] = server.asked("GET stats")
    # Without it the server tells what it counted up to a minute ago.
    assert request.url.params["refresh"] == "true"
    assert server.limits("GET stats") == [5]
    server.answers["GET stats"] = {}
    stats = await bank.stats()
    assert (stats.documents, stats.facts) == (0, 0)


@pytest.mark.spec("pi/H-05")
async def test_retain_sends_what_there_is_and_nothing_else(opened, server):
    server.answers["GET /version"] = {"api_version": "0.8.5"}
    bank = opened()
    await bank.retain(Document("d1", "- one"))
    await bank.retain(
        Document(
            "d2",
            "- two",
            context="a note",
            tags=("a", "b"),
            metadata={"language": "en"},
            timestamp=datetime(2030, 1, 1, tzinfo=UTC),
        )
    )
    first, second = server.bodies("POST memories")
    assert first == {
        "items": [
            {"content": "- one", "document_id": "d1", "timestamp": "2030-03-04T09:30:00+00:00"}
        ],
        "async": False,
    }
    assert second["items"] == [
        {
            "content": "- two",
            "context": "a note",
            "tags": ["a", "b"],
            "metadata": {"language": "en"},
            "timestamp": "2030-01-01T00:00:00+00:00",
            "document_id": "d2",
        }
    ]
    assert server.limits("POST memories") == [30, 30]


@pytest.mark.spec("pi/H-05")
async def test_a_strategy_is_named_when_the_settings_name_one(opened, server):
    bank = opened(memorize={"strategy": "sessions"})
    await bank.retain(Document("d1", "- one"))
    assert server.bodies("POST memories")[0]["items"][0]["strategy"] == "sessions"


@pytest.mark.spec("pi/H-06")
async def test_recall_asks_with_the_settings_values(bank, server):
    assert await bank.recall(Query("where are orders?")) == []
    assert server.bodies("POST memories/recall") == [
        {
            "query": "where are orders?",
            "max_tokens": 2048,
            "budget": "mid",
            "prefer_observations": True,
            "include": {"entities": None},
        }
    ]
    assert server.limits("POST memories/recall") == [30]


@pytest.mark.spec("pi/H-07", "pi/G-03")
@pytest.mark.parametrize("name", ["text", "answer"])
async def test_reflect_reads_either_name_and_takes_its_time(bank, server, name):
    server.answers["POST reflect"] = {name: "PostgreSQL.", "based_on": {"memories": [{"id": "f"}]}}
    answer = await bank.reflect(Query("where are orders?"))
    assert (answer.text, answer.fact_ids) == ("PostgreSQL.", ("shop:f",))
    assert server.bodies("POST reflect")[0]["query"] == "where are orders?"
    assert server.limits("POST reflect") == [180]


@pytest.mark.spec("pi/H-08")
async def test_a_document_that_is_not_there_is_deleted_already(bank, server, refusal):
    server.answers["DELETE documents/d1"] = {"success": True}
    assert await bank.delete_document("d1")
    server.answers["DELETE documents/d1"] = refusal(404, "Document not found")
    assert not await bank.delete_document("d1")
    server.answers["DELETE documents/d1"] = refusal(500, "boom")
    with pytest.raises(BankError, match="500"):
        await bank.delete_document("d1")
    assert server.limits("DELETE documents/d1") == [15, 15, 15]


@pytest.mark.spec("pi/H-09")
async def test_invalidate_and_restore_send_exactly_this(bank, server):
    server.answers["GET memories/*"] = FACT
    server.answers[f"PATCH memories/{FACT['id']}"] = [
        {**FACT, "state": "invalidated", "invalidation_reason": "wrong"},
        FACT,
    ]
    gone = await bank.set_state(FACT["id"], "invalidated", reason="wrong")
    assert (gone.state, gone.reason) == ("invalidated", "wrong")
    assert (await bank.set_state(FACT["id"], "valid")).state == "valid"
    assert server.bodies(f"PATCH memories/{FACT['id']}") == [
        {"state": "invalidated", "reason": "wrong"},
        {"state": "valid"},
    ]


@pytest.mark.spec("pi/H-09", "pi/H-21")
@pytest.mark.parametrize(
    ("status", "detail", "stored"),
    [
        (404, "Memory unit 'x' not found", True),
        (400, "Memory 'x' is a observation; only world/experience facts can be curated.", True),
        (500, "boom", False),
    ],
)
async def test_retiring_what_a_document_replaces(bank, server, refusal, status, detail, stored):
    server.answers["GET memories/*"] = FACT
    server.answers[f"PATCH memories/{FACT['id']}"] = refusal(status, detail)
    document = Document("d2", "- two", supersedes=(("new", FACT["id"]),))
    if stored:
        assert (await bank.retain(document)).outcome == "stored"
        return
    with pytest.raises(BankError, match="boom"):
        await bank.retain(document)


@pytest.mark.spec("pi/H-21")
async def test_an_observation_is_not_changed(bank, server):
    server.answers["GET memories/*"] = OBSERVATION
    with pytest.raises(BankError, match="observation") as caught:
        await bank.set_state(OBSERVATION["id"], "invalidated")
    assert not caught.value.retryable
    assert [r for r in server.requests if r.method == "PATCH"] == []


@pytest.mark.spec("pi/H-10")
async def test_a_document_is_read_with_its_text(bank, server):
    server.answers["GET documents/session%3A1"] = {
        "id": "session:1",
        "original_text": "- Orders are kept in PostgreSQL",
        "created_at": "2026-11-29T18:59:50+00:00",
        "memory_unit_count": 1,
        "tags": ["project:hs"],
        "document_metadata": {"host": "pi"},
        "retain_params": {"context": "pi session"},
    }
    server.answers["GET memories/list"] = {"items": [FACT], "total": 1}
    held = await bank.get_document("session:1")
    assert held.text == "- Orders are kept in PostgreSQL"
    assert (held.context, held.tags, held.metadata) == (
        "pi session",
        ("project:hs",),
        {"host": "pi"},
    )
    assert held.timestamp == datetime(2026, 11, 29, 18, 59, 50, tzinfo=UTC)
    assert [fact.id for fact in held.facts] == [FACT["id"]]
    assert server.limits("GET documents/session%3A1") == [5]


@pytest.mark.spec("pi/H-11")
async def test_listing_reads_type_and_state_and_leaves_observations_out(bank, server):
    def answer(request):
        params = request.url.params
        gone = {"state": "invalidated", "invalidation_reason": "superseded by n1"}
        held = {
            ("world", "valid"): [{**FACT, "fact_type": "world"}],
            ("experience", "invalidated"): [{**FACT, "id": "e1", **gone}],
        }.get((params["type"], params["state"]), [])
        return httpx.Response(200, json={"items": held, "total": len(held)})

    server.answers["GET memories/list"] = answer
    page = await bank.list_facts(state=None, limit=7)
    assert [(f.id, f.state) for f in page.facts] == [(FACT["id"], "valid"), ("e1", "superseded")]
    assert page.facts[1].superseded_by == "n1"
    assert page.total == 2
    assert {r.url.params["limit"] for r in server.asked("GET memories/list")} == {"7"}
    assert (await bank.list_facts(state="invalidated")).total == 0


@pytest.mark.spec("pi/H-12", "pi/H-22")
@pytest.mark.parametrize(
    ("told", "read"),
    [
        ({"content": "Tests use pytest."}, "Tests use pytest."),
        ({"body": "Tests use pytest."}, "Tests use pytest."),
        ({"content": "Generating content..."}, None),
        ({"content": None}, None),
    ],
)
async def test_a_mental_model_has_content_or_none_yet(bank, server, told, read):
    server.answers["GET mental-models/prefs"] = told
    assert await bank.mental_model("prefs") == read


async def test_an_unknown_mental_model_is_none(bank, server, refusal):
    server.answers["GET mental-models/prefs"] = refusal(404, "Mental model 'prefs' not found")
    assert await bank.mental_model("prefs") is None


@pytest.mark.spec("pi/H-13")
async def test_banks_of_the_namespace(bank, server):
    server.answers["GET /v1/default/banks"] = {"banks": [{"bank_id": "shop"}], "total": 1}
    assert [b["bank_id"] for b in await bank.api.banks()] == ["shop"]
    assert server.limits("GET /v1/default/banks") == [15]


async def test_operations_and_mental_models_are_listed(bank, server):
    server.answers["GET operations"] = {"operations": [{"id": "o1", "status": "failed"}]}
    server.answers["GET mental-models"] = {"items": [{"id": "m1", "content": "x"}]}
    assert (await bank.api.operations(status="failed"))[0]["id"] == "o1"
    assert (await bank.api.mental_models())[0]["id"] == "m1"
    assert server.asked("GET operations")[0].url.params["status"] == "failed"
    assert server.asked("GET mental-models")[0].url.params["detail"] == "full"


async def test_names_with_every_character_are_one_segment_of_the_path(opened, server):
    await opened("a/b c?d ü").stats()
    assert server.requests[0].url.raw_path.startswith(
        b"/v1/default/banks/a%252Fb%20c%3Fd%20%C3%BC/"
    )


def test_a_name_that_no_server_takes_is_refused_at_once(tmp_path):
    from hindsight_core.banks.hindsight import open_hindsight
    from hindsight_core.config.settings import Settings
    from hindsight_core.services import Services

    for name in ("..", "x" * 193):
        with pytest.raises(ConfigError, match=r"bank\.id"):
            open_hindsight(Settings(), Services(), bank_id=name, side=tmp_path / "side")


async def test_one_client_keeps_its_connections(bank):
    await bank.stats()
    client = bank.api.client._server._client
    await bank.stats()
    assert bank.api.client._server._client is client


async def test_lone_surrogates_do_not_stop_a_write(opened, server):
    server.answers["GET /version"] = {"api_version": "0.8.5"}
    await opened().retain(Document("d1", "bad \ud800 text"))
    assert (
        json.loads(server.asked("POST memories")[0].content)["items"][0]["content"] == "bad ? text"
    )
