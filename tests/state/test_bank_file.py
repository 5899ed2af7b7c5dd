"""A bank's file that is lost is no reason to call its sessions memorized."""

from __future__ import annotations

from hindsight_core.memory import Document, Fact
from hindsight_core.state.bank_file import recognise

DOCUMENT = Document(id="d1", text="t", facts=(Fact(id="f1", text="Redis holds sessions"),))


async def test_the_first_identity_seen_changes_nothing(place, bank):
    await place.outbox.store(bank, DOCUMENT, window=("s1", "e9"))
    assert await recognise(place.queue, place.sessions, bank.id, "one")
    assert await recognise(place.queue, place.sessions, bank.id, "one")
    assert await place.sessions.cursor(bank.id, "s1") == "e9"
    assert (await place.outbox.store(bank, DOCUMENT)).outcome == "known"


async def test_another_identity_begins_anew_for_this_bank_alone(place, bank):
    await recognise(place.queue, place.sessions, bank.id, "one")
    await place.outbox.store(bank, DOCUMENT, window=("s1", "e9"))
    await place.sessions.set_cursor("other", "s1", "e9")
    await place.sessions.set_summary(bank.id, "s1", "of the lost bank")
    assert not await recognise(place.queue, place.sessions, bank.id, "two")
    assert await place.sessions.cursor(bank.id, "s1") is None
    assert await place.sessions.summary(bank.id, "s1") is None
    assert await place.sessions.cursor("other", "s1") == "e9"
    assert (await place.outbox.store(type(bank)(), DOCUMENT)).outcome == "stored"
    assert await recognise(place.queue, place.sessions, bank.id, "two")


async def test_what_waits_for_the_bank_stays(place, bank):
    await recognise(place.queue, place.sessions, bank.id, "one")
    await place.queue.enqueue(bank.id, DOCUMENT)
    await recognise(place.queue, place.sessions, bank.id, "two")
    assert (await place.queue.counts(bank.id)).pending == 1
