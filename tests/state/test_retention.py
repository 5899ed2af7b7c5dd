from __future__ import annotations

from hindsight_core.memory import Document
from hindsight_core.state.retention import Pruned, forget_bank, forget_session, prune, vacuum
from hindsight_core.transcript.entry import Entry


async def store(place, bank, session, *numbers):
    for number in numbers:
        document = Document(f"{session}{number}", "text")
        await place.outbox.store(bank, document, window=(session, f"e{number}"))


async def test_old_receipts_and_windows_go_but_the_cursor_stays(place, bank, clock):
    await store(place, bank, "S", 1, 2, 3)
    await place.sessions.set_summary("shop", "S", "so far")
    clock.advance(days=91)
    await store(place, bank, "T", 1)
    pruned = await prune(place.queue, place.sessions, clock=clock)
    assert pruned == Pruned(receipts=3, windows=2, session_rows=1)
    assert await place.sessions.cursor("shop", "S") == "e3"
    assert await place.sessions.cursor("shop", "T") == "e1"


async def test_an_open_session_keeps_what_makes_its_writes_idempotent(place, bank, clock):
    await place.journal.lease("shop", "S", host="pi")
    await store(place, bank, "S", 1, 2)
    await place.journal.append("shop", "T", [Entry("x", "user")], host="pi")
    await place.journal.release("shop", "T")
    await store(place, bank, "T", 1, 2)
    clock.advance(days=400)
    assert await prune(place.queue, place.sessions, clock=clock) == Pruned(0, 0, 0)
    await store(place, bank, "S", 1)
    assert bank.stored == ["S1", "S2", "T1", "T2"]


async def test_waiting_writes_and_dead_letters_are_never_pruned(place, bank, clock, away):
    bank.failing = away
    await store(place, bank, "S", 1)
    clock.advance(days=4000)
    await prune(place.queue, place.sessions, clock=clock)
    assert await place.queue.pending() == 1


async def test_after_a_bank_was_deleted_the_same_things_are_stored_anew(place, bank):
    await store(place, bank, "S", 1)
    await place.sessions.add_shown("shop", "S", ["a"])
    await forget_bank(place.queue, place.sessions, "shop")
    assert await place.sessions.cursor("shop", "S") is None
    assert await place.sessions.shown("shop", "S") == frozenset()
    await store(place, bank, "S", 1)
    assert bank.stored == ["S1", "S1"]


async def test_a_session_can_be_stored_again_from_its_start(place, bank):
    await store(place, bank, "S", 1, 2)
    await store(place, bank, "T", 1)
    await forget_session(place.queue, "shop", "S")
    assert await place.sessions.cursor("shop", "S") is None
    assert await place.sessions.cursor("shop", "T") == "e1"
    await store(place, bank, "S", 1)
    await store(place, bank, "T", 1)
    assert bank.stored == ["S1", "S2", "T1", "S1"]


async def test_vacuum_gives_space_back(place, bank):
    await place.outbox.store(bank, Document("d", "x" * 1_000_000))
    assert await place.queue.pending() == 0
    await vacuum(place.queue.database)
    await place.queue.database.outside(lambda c: c.execute("PRAGMA wal_checkpoint(TRUNCATE)"))
    assert (place.home / "queue.db").stat().st_size < 200_000
