from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from hindsight_core.identity import fact_id
from hindsight_core.memory import Document
from hindsight_core.testing.banks import document, fact

DAY = datetime(2030, 3, 4, 9, tzinfo=UTC)
OLD, NEW = "Staging is at 10.1.1.1", "Staging is at 10.2.2.2"


async def test_a_fact_takes_time_and_tags_of_its_document(bank):
    await bank.retain(document("d1", OLD, timestamp=DAY, tags=("ops",)))
    kept = await bank.get_fact(fact_id(OLD))
    assert (kept.timestamp, kept.tags, kept.document_id) == (DAY, ("ops",), "d1")


async def test_a_correction_by_hand_outlives_a_replay(bank, found):
    await bank.retain(document("d1", OLD))
    await bank.edit_fact(fact_id(OLD), text=NEW)
    assert (await bank.retain(document("d1", OLD))).outcome == "known"
    assert await found(bank, "staging") == [NEW]
    assert (await bank.get_document("d1")).text == f"- {NEW}"
    await bank.retain(document("note", OLD, explicit=True))
    assert await found(bank, "staging") == [OLD]


@pytest.mark.spec("br/BR-41")
async def test_a_deleted_fact_comes_back_only_when_a_person_says_so(bank, found):
    await bank.retain(document("d1", OLD))
    await bank.delete_fact(fact_id(OLD))
    assert (await bank.retain(document("d1", OLD))).fact_ids == ()
    assert (await bank.get_document("d1")).text == ""
    assert await found(bank, "staging") == []
    await bank.retain(document("note", OLD, explicit=True))
    assert await found(bank, "staging") == [OLD]


async def test_what_was_deleted_may_be_imported(bank, found):
    await bank.retain(document("d1", OLD))
    await bank.delete_fact(fact_id(OLD))
    await bank.import_facts([fact(OLD)])
    assert await found(bank, "staging") == [OLD]


@pytest.mark.spec("br/BR-41")
async def test_hard_delete_leaves_no_trace_in_any_file(bank, tmp_path):
    # Enough beside it for several index segments, and neighbours that borrow its words.
    await bank.import_facts([fact(f"plain fact {n} about topic{n % 7}") for n in range(500)])
    await bank.retain(
        document("d1", "before it", "The Zanzibar gateway is at 10.1.1.1", "after it")
    )
    await bank.retain(document("d2", "other", "The Zanzibar gateway is at 10.1.1.1", "more"))
    await bank.edit_fact(fact_id("before it"), text="before Quagmire it")
    await bank.edit_fact(fact_id("before it"), text="before it")
    assert await bank.delete_fact(fact_id("The Zanzibar gateway is at 10.1.1.1"))
    for path in tmp_path.iterdir():
        content = path.read_bytes().lower()
        assert b"zanzibar" not in content, path
        assert b"10.1.1.1" not in content, path
    with closing(sqlite3.connect(tmp_path / "shop.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


async def test_a_document_without_facts_is_kept(bank):
    receipt = await bank.retain(Document(id="d1", text="text only", facts=None))
    assert (receipt.outcome, receipt.fact_ids) == ("stored", ())
    assert (await bank.get_document("d1")).text == "text only"
    assert (await bank.retain(Document(id="d1", text="text only", facts=None))).outcome == "known"


async def test_a_pinned_or_invalidated_fact_stays_when_its_document_changes(bank):
    await bank.retain(document("d1", "one is pinned", "two is wrong", "three goes"))
    await bank.pin_fact(fact_id("one is pinned"), pinned=True)
    await bank.set_state(fact_id("two is wrong"), "invalidated", reason="no")
    await bank.retain(document("d1", "four is new"))
    kept = {f.text: f.state for f in (await bank.list_facts(state=None)).facts}
    assert kept == {"one is pinned": "valid", "two is wrong": "invalidated", "four is new": "valid"}


async def test_an_older_sentence_does_not_revive_what_a_later_one_replaced(bank, found):
    await bank.retain(document("d1", fact(OLD, timestamp=DAY)))
    pair = ((fact_id(NEW), fact_id(OLD)),)
    await bank.retain(document("d2", fact(NEW, timestamp=DAY + timedelta(days=2)), supersedes=pair))
    await bank.retain(document("d3", fact(OLD, timestamp=DAY + timedelta(days=1))))
    assert await found(bank, "staging") == [NEW]
    await bank.retain(document("d4", fact(OLD, timestamp=DAY + timedelta(days=3))))
    assert set(await found(bank, "staging")) == {OLD, NEW}


async def test_superseding_what_is_unknown_or_itself_changes_nothing(bank):
    pairs = ((fact_id(NEW), "unknown"), (fact_id(NEW), fact_id(NEW)))
    await bank.retain(document("d1", NEW, supersedes=pairs))
    assert (await bank.get_fact(fact_id(NEW))).state == "valid"


async def test_supersession_follows_a_sentence_that_is_stored_under_another_id(bank):
    await bank.import_facts([replace(fact(NEW), id="given")])
    await bank.retain(document("d1", OLD))
    pair = ((fact_id(NEW), fact_id(OLD)),)
    await bank.retain(document("d2", NEW, supersedes=pair))
    assert (await bank.get_fact(fact_id(OLD))).superseded_by == "given"


async def test_pending_facts_wait_unseen(bank, found):
    await bank.retain(document("d1", fact(OLD, state="pending")))
    assert await found(bank, "staging") == []
    await bank.set_state(fact_id(OLD), "valid")
    assert await found(bank, "staging") == [OLD]


async def test_counts_are_right_after_everything(bank):
    await bank.retain(document("d1", "one", "two", "three", "four"))
    await bank.set_state(fact_id("one"), "invalidated")
    await bank.set_state(fact_id("two"), "pending")
    await bank.delete_fact(fact_id("three"))
    stats = await bank.stats()
    assert (stats.documents, stats.facts) == (1, 1)
    assert stats.states == {"valid": 1, "invalidated": 1, "pending": 1}
    assert stats.bytes > 0
    await bank.delete_document("d1")
    assert (await bank.stats()).states == {}


async def test_the_index_can_be_rebuilt_from_the_rows(bank, found, tmp_path):
    await bank.retain(document("d1", OLD, "CART_TTL is 30 minutes"))
    await bank.set_state(fact_id(OLD), "invalidated")
    with closing(sqlite3.connect(tmp_path / "shop.db")) as connection:
        connection.execute("DELETE FROM words")
        connection.commit()
    assert await found(bank, "cart ttl") == []
    assert await bank.rebuild_index() == 1
    assert await found(bank, "cart ttl") == ["CART_TTL is 30 minutes"]
    assert await found(bank, "cartt ttl") == ["CART_TTL is 30 minutes"]
    assert await found(bank, "staging") == []
