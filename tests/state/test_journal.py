from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from hindsight_core.memory import Document
from hindsight_core.state.jobs import WindowMark
from hindsight_core.state.owner import Owner
from hindsight_core.transcript.entry import Entry, Text


def path(*ids: str) -> list[Entry]:
    parents = (None, *ids)
    return [Entry(key, "user", (Text(key),), parent_id=parents[i]) for i, key in enumerate(ids)]


async def die(place) -> None:
    """What SIGKILL leaves: leases of a process that is gone."""
    gone = str(replace(Owner.here(), pid=2**22 - 1, start="1"))
    await place.queue.database.write(
        lambda c: c.execute("UPDATE sessions SET owner = ?", (gone,)).rowcount
    )


async def left(place) -> dict[str, list[str]]:
    found = await place.journal.recoverable("shop")
    return {item.session_id: [entry.id for entry in item.entries] for item in found}


@pytest.mark.spec("br/BR-11")
async def test_the_tail_of_a_dead_session_is_recovered_once(place):
    await place.journal.lease("shop", "S", host="pi", project="p")
    await place.journal.append("shop", "S", path("e1", "e2"), host="pi")
    await place.journal.append("shop", "S", path("e1", "e2", "e3"), host="pi")
    await die(place)
    one, two = place.again(), place.again()
    found = await asyncio.gather(*(p.journal.recoverable("shop") for p in (one, two)))
    [item] = [item for items in found for item in items]
    assert (item.session_id, item.host, item.project) == ("S", "pi", "p")
    assert item.entries == tuple(path("e1", "e2", "e3"))
    await die(place)
    assert await left(place.again()) == {"S": ["e1", "e2", "e3"]}, "its recoverer died too"


@pytest.mark.spec("br/BR-11")
async def test_what_is_durable_as_a_window_leaves_the_journal(place, bank, away):
    bank.failing = away
    await place.journal.append("shop", "S", path("e1", "e2", "e3"), host="pi")
    await place.outbox.store(bank, Document("d", "text"), window=("S", "e2"))
    await die(place)
    assert await left(place.again()) == {"S": ["e3"]}


async def test_what_was_dealt_with_is_not_journaled_again(place):
    await place.journal.append("shop", "S", path("e1", "e2"), host="pi")
    await place.journal.forget("shop", "S", through="e2")
    assert await place.journal.pending("shop") == 0
    assert await place.sessions.cursor("shop", "S") == "e2"
    assert await place.journal.append("shop", "S", path("e1", "e2", "e3"), host="pi") == 1
    await die(place)
    assert await left(place.again()) == {"S": ["e3"]}


async def test_a_living_session_keeps_its_entries_however_silent(place, clock):
    await place.journal.append("shop", "S", path("e1"), host="pi")
    clock.advance(days=3)
    assert await left(place.again()) == {}


async def test_a_session_that_ended_leaves_them_at_once(place):
    await place.journal.lease("shop", "S", host="pi")
    await place.journal.append("shop", "S", path("e1"), host="pi")
    await place.journal.release("shop", "S")
    assert await left(place.again()) == {"S": ["e1"]}


async def test_where_processes_cannot_see_one_another_the_lease_decides(place, clock):
    await place.journal.append("shop", "S", path("e1"), host="pi")
    elsewhere = str(replace(Owner.here(), node="another-machine"))
    await place.queue.database.write(
        lambda c: c.execute("UPDATE sessions SET owner = ?", (elsewhere,)).rowcount
    )
    assert await left(place.again()) == {}
    clock.advance(200)
    assert await left(place.again()) == {"S": ["e1"]}


async def test_what_a_resumed_session_stored_its_recoverer_does_not(place, bank):
    await place.journal.append("shop", "S", path("e1", "e2"), host="pi")
    await die(place)
    recoverer, resumed = place.again(), place.again()
    assert await left(recoverer) == {"S": ["e1", "e2"]}
    await resumed.journal.lease("shop", "S", host="pi")
    whole = WindowMark("S", "e3", entry_ids=("e1", "e2", "e3"))
    part = WindowMark("S", "e2", entry_ids=("e1", "e2"))
    stored = await resumed.outbox.store(bank, Document("whole", "text"), window=whole)
    late = await recoverer.outbox.store(bank, Document("part", "text"), window=part)
    assert (stored.outcome, late.outcome) == ("stored", "failed")
    assert "another process" in late.reason
    assert bank.stored == ["whole"]


async def test_only_the_active_path_is_recovered(place):
    await place.journal.append("shop", "S", path("e1", "e2", "e3"), host="pi")
    branch = [*path("e1", "e2"), Entry("e4", "user", (Text("e4"),), parent_id="e2")]
    await place.journal.append("shop", "S", branch, host="pi")
    await die(place)
    assert await left(place.again()) == {"S": ["e1", "e2", "e4"]}


async def test_what_waits_is_counted_without_other_living_sessions(place):
    other = place.again()
    await place.journal.append("shop", "S", path("e1"), host="pi")
    await other.journal.append("shop", "T", path("e1"), host="pi")
    assert await place.journal.pending("shop") == 1
    assert await place.journal.pending("shop", besides="S") == 0
    await other.journal.release("shop", "T")
    assert await place.journal.pending("shop") == 2


@pytest.mark.spec("br/BR-46")
async def test_a_torn_record_does_not_stop_the_others(place):
    await place.journal.append("shop", "S", path("e1", "e2", "e3"), host="pi")
    await place.queue.database.write(
        lambda c: c.execute("UPDATE journal SET payload = '{' WHERE entry_id = 'e1'").rowcount
    )
    await die(place)
    assert await left(place.again()) == {"S": ["e2", "e3"]}
    assert (await place.queue.counts("shop")).set_aside == 1
