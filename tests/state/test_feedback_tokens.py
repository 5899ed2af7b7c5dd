from __future__ import annotations

import uuid

import pytest

from hindsight_core.state.feedback_tokens import FeedbackTokens
from hindsight_core.state.state_schema import STATE_SCHEMA
from hindsight_core.storage import Database


@pytest.fixture
def opened(tmp_path):
    made = []

    def make() -> Database:
        made.append(Database(tmp_path / "state.db", STATE_SCHEMA))
        return made[-1]

    yield make
    for database in made:
        database.close()


@pytest.fixture
def tokens(opened, clock):
    return FeedbackTokens(opened(), clock)


async def say(tokens, token: str, fact_id: str, session_id: str = "s1") -> str:
    return await tokens.redeem(token, fact_id, outcome="useful", session_id=session_id, limit=2)


@pytest.mark.spec("am/A-FB-1")
async def test_the_answers_in_their_order(tokens):
    given = [await tokens.issue("shop", "s1", ["a", "b"]) for _ in range(3)]
    assert len({uuid.UUID(token) for token in given}) == 3
    assert await say(tokens, "invented", "a") == "unknown_token"
    assert await say(tokens, given[0], "z") == "not_in_steer"
    assert [await say(tokens, token, "a") for token in given] == [
        "accepted",
        "accepted",
        "session_limit",
    ]
    assert await say(tokens, given[0], "a") == "duplicate"
    assert await say(tokens, given[2], "b") == "accepted"
    assert await say(tokens, given[2], "a", "s2") == "accepted"


@pytest.mark.spec("am/A-FB-1")
async def test_an_answer_that_is_taken_back_may_be_given_again(tokens):
    token = await tokens.issue("shop", "s1", ["a"])
    assert await say(tokens, token, "a") == "accepted"
    await tokens.release(token, "a")
    assert await say(tokens, token, "a") == "accepted"
    assert await say(tokens, token, "a") == "duplicate"


async def test_tokens_outlive_the_process(tokens, opened, clock):
    token = await tokens.issue("shop", "s1", ["b", "a", "b"])
    other = FeedbackTokens(opened(), clock)
    assert (await other.shown(token)).fact_ids == ("b", "a")
    assert [item.token for item in await other.of_session("shop", "s1")] == [token]
    assert await say(other, token, "a") == "accepted"
    assert await say(tokens, token, "a") == "duplicate"


async def test_old_tokens_end(tokens, clock):
    old = await tokens.issue("shop", "s1", ["a"])
    clock.advance(days=91)
    await tokens.issue("shop", "s1", ["a"])
    assert await tokens.shown(old) is None
    assert await say(tokens, old, "a") == "unknown_token"
