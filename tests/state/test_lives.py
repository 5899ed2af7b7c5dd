from __future__ import annotations

import sqlite3
from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from hindsight_core.state.life import Answer, LifeRecord, Told, decode, encode
from hindsight_core.state.lives import LifeRecords
from hindsight_core.state.state_schema import STATE_SCHEMA
from hindsight_core.storage import Database

FULL = LifeRecord(
    Told("assistant", "s1", "/projects", "prompt", "why", 61000, None, "the words"),
    scope="global",
    confidence=0.25,
    earlier=(Told("user"),),
    answers=(Answer("useful", "s1", "t", "it helped", datetime(2026, 1, 1, tzinfo=UTC)),),
    decayed_on=date(2026, 1, 2),
    expired_at=datetime(2026, 1, 3, 4, 5, 6, 7, tzinfo=UTC),
    expired_by="low_confidence",
    supersedes=("a", "b"),
)


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
def lives(opened, clock):
    return LifeRecords(opened(), clock)


@pytest.mark.spec("am/A-REC-1", "am/A-REC-2")
def test_a_record_is_kept_whole():
    assert decode(encode(FULL)) == FULL
    assert decode(encode(LifeRecord(Told("user")))) == LifeRecord(Told("user"))


@pytest.mark.spec("am/A-REC-4")
@pytest.mark.parametrize(
    "wrong",
    [
        '{"told": {"actor": "robot"}}',
        '{"told": {"actor": "user", "cause": ""}}',
        '{"told": {"actor": "user"}, "confidence": 1.5}',
        '{"told": {"actor": "user"}, "priority": -0.1}',
        '{"told": {"actor": "user"}, "decay_rate": "NaN"}',
        '{"told": {"actor": "user"}, "scope": "world"}',
        '{"told": {"actor": "user"}, "created_at": "yesterday"}',
        "{}",
        "not json",
    ],
)
async def test_a_record_that_is_wrong_is_set_aside_with_its_reason(lives, tmp_path, wrong):
    with pytest.raises(ValueError, match=r"\w"):
        decode(wrong)
    await lives.change("shop", ["other"], lambda _: lambda record: FULL)
    with sqlite3.connect(tmp_path / "state.db") as connection:
        connection.execute("INSERT INTO lives VALUES ('shop', 'bad', ?, 0)", (wrong,))
    connection.close()
    assert list(await lives.get("shop", ["bad", "other"])) == ["other"]
    await lives.change("shop", ["bad"], lambda _: lambda record: record or FULL)
    assert await lives.get("shop", ["bad"]) == {"bad": FULL}
    [(fact_id, reason)] = await lives.set_aside("shop")
    assert fact_id == "bad"
    assert reason


@pytest.mark.spec("am/A-STORE-3")
async def test_a_change_sees_the_newest_record(lives, opened, clock):
    other = LifeRecords(opened(), clock)

    def count(record: LifeRecord | None) -> LifeRecord:
        before = record or LifeRecord(Told("user"))
        return replace(before, useful=before.useful + 1)

    for store in (lives, other, lives):
        await store.change("shop", ["a"], lambda _: count)
    assert (await lives.get("shop", ["a"]))["a"].useful == 3
    assert await lives.get("cafe", ["a"]) == {}


async def test_nothing_is_written_for_none(lives):
    assert await lives.change("shop", ["a"], lambda _: lambda record: None) == {}
    await lives.change("shop", ["a"], lambda _: lambda record: FULL)
    assert await lives.change("shop", ["a"], lambda _: lambda record: None) == {"a": FULL}
    await lives.forget("shop", ["a"])
    assert await lives.get("shop", ["a"]) == {}


async def test_sessions_are_numbered_in_their_bank(lives):
    numbers = [await lives.session_number("shop", name) for name in ("a", "b", "a", "c")]
    assert numbers == [1, 2, 1, 3]
    assert await lives.session_number("cafe", "a") == 1


async def test_what_was_deleted_for_good_is_in_no_record(lives):
    before = Told("user", text="the secret", user_text="it is the secret", evidence="secret")
    other = replace(FULL, supersedes=("z",))
    heir = LifeRecord(Told("user"), earlier=(before,), supersedes=("a", "b"))
    await lives.put("shop", {"a": LifeRecord(before), "c": heir, "d": other})
    await lives.forget("shop", ["a"])
    left = await lives.everything("shop")
    assert "secret" not in str(left)
    assert left["c"].supersedes == ("b",)
    assert [told.actor for told in left["c"].earlier] == ["user"]
    assert left["d"] == other
