"""Confidence in listings, and facts that expire and come back, on the command line."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from hindsight_core.identity import fact_id

TEA, CAKE = "The shop sells tea.", "The shop bakes cake."


@pytest.fixture
def filled(mem, tmp_path, monkeypatch):
    monkeypatch.setenv("HINDSIGHT_MEM_LIFECYCLE__ENABLED", "true")
    file = tmp_path / "facts.jsonl"
    file.write_text("".join(json.dumps({"text": text}) + "\n" for text in (TEA, CAKE)))
    assert mem("bank", "import", file).code == 0
    assert mem("facts", "expire", "--due").code == 0
    return mem


@pytest.fixture
def days_ago():
    """Make the clocks of all records stand so many days ago."""

    def move(days: int) -> None:
        with (
            closing(
                sqlite3.connect(Path(os.environ["HINDSIGHT_MEM_HOME"]) / "state.db")
            ) as connection,
            connection,
        ):
            for bank, key, body in connection.execute(
                "SELECT bank, fact_id, body FROM lives"
            ).fetchall():
                record = json.loads(body)
                [[moved]] = connection.execute(
                    "SELECT date(?, ?)", (record["decayed_on"], f"-{days} days")
                ).fetchall()
                connection.execute(
                    "UPDATE lives SET body = ? WHERE bank = ? AND fact_id = ?",
                    (json.dumps({**record, "decayed_on": moved}), bank, key),
                )

    return move


def rows(mem, *more: str) -> dict[str, dict]:
    return {row["text"]: row for row in mem("facts", "list", "--json", *more).data["facts"]}


@pytest.mark.spec("am/A-LIFE-1", "am/A-LIFE-5")
def test_unused_facts_expire_pinned_ones_stay_and_one_command_brings_back(filled, days_ago):
    filled("facts", "pin", fact_id(CAKE))
    assert (rows(filled)[TEA]["confidence"], rows(filled)[TEA]["days_left"]) == (0.5, 5)
    assert "(0.50, 5 unused days left)" in filled("facts", "list").out
    days_ago(4)
    assert filled("facts", "expire", "--due", "--json").data["expired"] == []
    assert rows(filled)[TEA]["confidence"] == 0.1344
    days_ago(1)
    [gone] = filled("facts", "expire", "--due", "--json").data["expired"]
    assert gone["text"] == TEA
    assert "lifecycle.deletion_threshold" in gone["reason"]
    assert list(rows(filled)) == [CAKE]
    [shown] = filled("facts", "show", gone["id"], "--json").data["facts"]
    assert (shown["expired_by"], shown["state"]) == ("low_confidence", "invalidated")
    [kept] = filled("facts", "show", fact_id(CAKE), "--json").data["facts"]
    assert (kept["confidence"], kept["floor"], kept["days_left"]) == (0.5, 0.5, None)

    back = filled("facts", "restore", gone["id"], "--reason", "we still sell it", "--json")
    assert back.data["facts"][0]["confidence"] == 0.5
    assert sorted(rows(filled)) == sorted([TEA, CAKE])
    [entry] = filled("log", "--type", "restore", "--json").data["entries"]
    assert entry["reason"] == "we still sell it"
    assert filled("facts", "expire", "--due", "--json").data["expired"] == []


def test_facts_are_expired_and_invalidated_by_hand_with_a_reason(filled):
    said = filled("facts", "expire", fact_id(TEA), "--reason", "we moved", "--json")
    assert said.data["expired"][0]["reason"] == "expired: we moved"
    assert filled("facts", "invalidate", fact_id(CAKE), "--reason", "wrong").code == 0
    assert rows(filled) == {}
    gone = rows(filled, "--state", "invalidated")
    assert sorted(gone) == sorted([TEA, CAKE])
    for text in (TEA, CAKE):
        [shown] = filled("facts", "show", gone[text]["id"], "--json").data["facts"]
        assert shown["expired_by"] == "person"


@pytest.mark.parametrize("arguments", [(), ("--due", "x")])
def test_expire_wants_facts_or_due(filled, arguments):
    said = filled("facts", "expire", *arguments)
    assert (said.code, "--due" in said.err) == (2, True)


def test_without_the_lifecycle_listings_are_as_they_were(filled, monkeypatch):
    monkeypatch.delenv("HINDSIGHT_MEM_LIFECYCLE__ENABLED")
    assert "confidence" not in rows(filled)[TEA]
    said = filled("facts", "expire", "--due")
    assert (said.code, "lifecycle.enabled is off" in said.err) == (2, True)
    assert filled("facts", "expire", fact_id(TEA)).code == 0
    assert filled("facts", "restore", fact_id(TEA)).code == 0
    assert TEA in rows(filled)


def test_what_is_deleted_for_good_leaves_no_record(filled):
    def recorded() -> list[str]:
        path = Path(os.environ["HINDSIGHT_MEM_HOME"]) / "state.db"
        with closing(sqlite3.connect(path)) as connection:
            return [row[0] for row in connection.execute("SELECT fact_id FROM lives")]

    assert sorted(recorded()) == sorted([fact_id(TEA), fact_id(CAKE)])
    assert filled("facts", "delete", fact_id(TEA), "--yes").code == 0
    assert recorded() == [fact_id(CAKE)]


def test_a_bank_that_is_read_only_is_not_swept(filled, monkeypatch):
    monkeypatch.setenv("HINDSIGHT_MEM_BANK__READ_ONLY", "true")
    said = filled("facts", "expire", "--due")
    assert (said.code != 0, "read_only" in said.err) == (True, True)


@pytest.mark.spec("am/A-REC-4")
def test_doctor_tells_how_memories_stand_and_which_records_were_unreadable(filled, days_ago):
    days_ago(4)
    filled("facts", "expire", "--due")
    filled("facts", "expire", fact_id(CAKE))

    def found() -> list[dict]:
        return [f for f in filled("doctor", "--json").data["findings"] if f["name"] == "memories"]

    [told] = found()
    assert told["text"] == "1 active, 1 of them for one more unused day; 1 retired"
    path = Path(os.environ["HINDSIGHT_MEM_HOME"]) / "state.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE lives SET body = '{}' WHERE fact_id = ?", (fact_id(TEA),))
    filled("facts", "expire", "--due")
    warning, told = found()
    assert (warning["level"], "1 records could not be read" in warning["text"]) == ("warning", True)
    assert rows(filled)[TEA]["confidence"] == 0.5
