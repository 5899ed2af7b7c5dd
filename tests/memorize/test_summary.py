"""The rolling summary of a session."""

from __future__ import annotations

import pytest

from hindsight_core.errors import ProviderError

REDIS = "The cache of the shop is Redis 7 on port 6380."
BROKER = "Orders go through RabbitMQ."


@pytest.mark.spec("pi/M-19", "pi/L-05")
async def test_what_was_stored_is_folded_into_what_was_there(kit, talk, script, answer):
    made = kit(
        script(extract=answer(REDIS), merge=answer(BROKER), summary=["one", "two"]),
        memorize={"summary_max_tokens": 777},
    )
    talk.user("redis")
    await made.one(talk)
    assert await made.sessions.summary("shop-bank", "s1") == "one"
    talk.user("rabbit")
    made.model.replies.set("memorize/extract", answer(BROKER))
    await made.one(talk)
    first, second = made.asked("summary")
    assert "(empty)" in first
    assert f"1. {REDIS}" in first
    assert "[summary so far]\none\n[end of summary]" in second
    assert f"1. {BROKER}" in second
    assert REDIS not in second
    assert await made.sessions.summary("shop-bank", "s1") == "two"
    assert {r.max_tokens for r in made.model.asked("memorize/summary")} == {777}


@pytest.mark.spec("pi/M-19")
@pytest.mark.parametrize("reply", [ProviderError("down"), ""])
async def test_a_summary_that_fails_keeps_the_old_one_and_the_write(
    kit, talk, script, answer, reply
):
    made = kit(script(extract=answer(REDIS), merge=answer(REDIS), summary=reply))
    await made.sessions.set_summary("shop-bank", "s1", "before")
    talk.user("redis")
    assert (await made.one(talk)).outcome == "stored"
    assert await made.sessions.summary("shop-bank", "s1") == "before"


@pytest.mark.spec("pi/M-20")
async def test_nothing_stored_needs_no_summary(kit, talk, script):
    made = kit(script())
    talk.user("hello")
    await made.one(talk)
    assert made.asked("summary") == []


async def test_no_secret_and_no_own_block_stays_in_a_summary(kit, talk, script, answer):
    secret = "s3cr3t-" + "v4lue-99"
    made = kit(script(extract=answer(REDIS), summary=f"- DB_PASSWORD={secret}\n- redis"))
    talk.user("redis")
    await made.one(talk)
    kept = await made.sessions.summary("shop-bank", "s1")
    assert secret not in kept
    assert "redis" in kept


async def test_without_a_model_there_is_none(kit, talk):
    made = kit(None)
    talk.user("Remember: the queue prefetch is 20.")
    await made.one(talk)
    assert await made.sessions.summary("shop-bank", "s1") is None
