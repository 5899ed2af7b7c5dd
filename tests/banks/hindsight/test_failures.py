"""Failed is not empty; a failure lasts for seconds; a busy server is left in peace."""

from __future__ import annotations

import httpx
import pytest

from hindsight_core.errors import BankError
from hindsight_core.memory import Document, Query

DOWN = httpx.ConnectError("connection refused")
FOUND = {"results": [{"id": "f1", "text": "Feature flags live in flags.toml"}]}
FLAGS = Query("where are feature flags?")


async def failure(bank, query=FLAGS):
    with pytest.raises(BankError) as caught:
        await bank.recall(query)
    return caught.value


@pytest.mark.spec("br/BR-35")
@pytest.mark.parametrize(
    ("answer", "retryable", "says"),
    [
        (httpx.Response(500, json={"detail": "Connection error."}), True, "Connection error."),
        (httpx.Response(502, text="<html>bad gateway</html>"), True, "502"),
        (httpx.Response(401, json={"detail": "Invalid API key"}), False, "hindsight.token"),
        (httpx.Response(400, json={"detail": "bad query_timestamp"}), False, "bad query_timestamp"),
        (
            httpx.Response(
                422, json={"detail": [{"loc": ["body", "query"], "msg": "no word character"}]}
            ),
            False,
            "body.query: no word character",
        ),
        (httpx.Response(307, headers={"location": "https://x"}), False, "redirects"),
        (httpx.Response(404, json={"detail": "Not Found"}), True, "hindsight.base_url"),
        (httpx.Response(200, text="<html>login</html>"), True, "not a JSON document"),
        (DOWN, True, "connection refused"),
        (httpx.ReadTimeout(""), True, "no answer within 30 s"),
    ],
)
async def test_a_failure_is_told_and_typed(bank, server, answer, retryable, says):
    server.answers["POST memories/recall"] = answer
    error = await failure(bank)
    assert says in str(error)
    assert error.retryable is retryable


@pytest.mark.spec("br/BR-35")
async def test_a_bank_that_is_not_there_yet_is_empty_on_every_version(bank, server, refusal):
    server.answers["POST memories/recall"] = [
        refusal(404, "Bank 'shop' not found"),
        {"results": [], "trace": None},
    ]
    assert await bank.recall(FLAGS) == []
    assert await bank.recall(FLAGS) == []


@pytest.mark.spec("br/BR-53")
async def test_a_failure_at_the_first_prompt_is_no_result_for_later_ones(bank, server, refusal):
    server.answers["POST memories/recall"] = [
        httpx.ReadTimeout(""),
        refusal(404, "Not Found"),
        FOUND,
    ]
    await failure(bank)
    await failure(bank)
    [hit] = await bank.recall(FLAGS)
    assert hit.fact.text == "Feature flags live in flags.toml"


@pytest.mark.spec("br/BR-53")
async def test_after_three_failures_it_is_left_alone_for_seconds(bank, server, clock):
    server.answers["POST memories/recall"] = [DOWN, DOWN, DOWN, FOUND]
    for _ in range(3):
        await failure(bank)
    error = await failure(bank)
    assert "left alone for another 30 s" in str(error)
    assert error.retryable
    # A pause of ours is no demand that a queue would have to keep.
    assert error.retry_after is None
    assert len(server.asked("POST memories/recall")) == 3
    clock.advance(31)
    assert len(await bank.recall(FLAGS)) == 1


async def test_a_failed_probe_starts_another_pause(bank, server, clock):
    server.answers["POST memories/recall"] = DOWN
    for _ in range(3):
        await failure(bank)
    clock.advance(31)
    await failure(bank)
    assert "left alone" in str(await failure(bank))
    assert len(server.asked("POST memories/recall")) == 4


async def test_a_clock_that_jumps_back_does_not_prolong_a_pause(bank, server, clock):
    server.answers["POST memories/recall"] = [DOWN, DOWN, DOWN, FOUND]
    for _ in range(3):
        await failure(bank)
    clock.advance(-86_400)
    assert len(await bank.recall(FLAGS)) == 1


async def test_a_document_that_the_server_chokes_on_does_not_switch_recall_off(
    bank, server, refusal
):
    server.answers["GET /version"] = {"api_version": "0.8.5"}
    server.answers["POST memories"] = refusal(500, "Fact extraction failed")
    server.answers["POST memories/recall"] = FOUND
    for _ in range(4):
        with pytest.raises(BankError):
            await bank.retain(Document("d1", "- poison"))
    assert len(server.asked("POST memories")) == 3
    assert len(await bank.recall(FLAGS)) == 1


async def test_refusals_of_a_request_do_not_count_as_failures(bank, server, refusal):
    server.answers["POST memories/recall"] = refusal(422, "odd")
    for _ in range(5):
        assert "odd" in str(await failure(bank))


@pytest.mark.spec("br/BR-56")
async def test_a_slow_health_answer_stops_nothing(bank, server):
    server.answers["GET /health"] = httpx.ReadTimeout("")
    server.answers["POST memories/recall"] = FOUND
    with pytest.raises(BankError, match="busy"):
        await bank.api.health()
    assert len(await bank.recall(FLAGS)) == 1
    assert (await bank.retain(Document("d1", "- one"))).outcome == "stored"
    # Nothing but the API is spoken to: there is no call that starts or stops a server.
    assert {r.url.path.split("/")[1] for r in server.requests} <= {"health", "version", "v1"}
    assert len(server.asked("GET /health")) == 1


@pytest.mark.spec("br/BR-58")
async def test_a_429_is_honoured_by_every_call_until_its_time(bank, server, refusal, clock):
    server.answers["POST memories/recall"] = [
        refusal(429, "slow down", **{"Retry-After": "7"}),
        FOUND,
    ]
    assert (await failure(bank)).retry_after == 7
    clock.advance(3)
    for _ in range(5):
        assert (await failure(bank)).retry_after == 4
    assert len(server.asked("POST memories/recall")) == 1
    clock.advance(4)
    assert len(await bank.recall(FLAGS)) == 1


@pytest.mark.spec("br/BR-58")
@pytest.mark.parametrize("asked", ["3600", "Wed, 21 Oct 2099 07:28:00 GMT"])
async def test_an_absurd_wait_is_told_but_recall_comes_back_in_minutes(
    bank, server, refusal, clock, asked
):
    server.answers["POST memories/recall"] = [
        refusal(429, "quota", **{"Retry-After": asked}),
        FOUND,
    ]
    assert (await failure(bank)).retry_after >= 3600
    assert (await failure(bank)).retry_after == 300
    clock.advance(301)
    assert len(await bank.recall(FLAGS)) == 1


@pytest.mark.spec("br/BR-58")
async def test_a_429_without_a_time_is_a_short_pause(bank, server, refusal, clock):
    server.answers["POST memories/recall"] = [refusal(429, "slow down"), FOUND]
    assert "429" in str(await failure(bank))
    assert "slow down" in str(await failure(bank))
    clock.advance(6)
    assert len(await bank.recall(FLAGS)) == 1


@pytest.mark.spec("pi/D-29")
async def test_a_namespace_that_the_server_does_not_have_is_named(opened, server, refusal):
    bank = opened(hindsight={"namespace": "team a"})
    server.answers["POST memories/recall"] = refusal(404, "Not Found")
    error = await failure(bank)
    assert server.requests[0].url.raw_path.startswith(b"/v1/team%20a/banks/shop/")
    assert "namespace 'team a'" in str(error)
    assert "hindsight.namespace" in str(error)


async def test_credentials_in_the_address_are_not_shown(opened, server):
    word = "".join(("pass", "word"))
    bank = opened(hindsight={"base_url": f"http://me:{word}@localhost:1/base/"})
    server.answers["POST memories/recall"] = DOWN
    error = await failure(bank)
    assert word not in str(error)
    assert "http://localhost:1/base/v1/default/banks/shop/memories/recall" in str(error)
